/** The queue of a session: what is shown of it, clearing and popping (sessions-events §5). */
import { LIMITS } from '../../../protocol/limits.js'
import type { AbortQueue, SessionQueueInfo, SessionQueueMutation, UserModel } from '../../../protocol/message/message.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { SessionStatus } from '../../../protocol/session/session.js'
import { createLru, type Lru } from '../../../kernel/lru.js'
import type { QueueHead, QueueRow, QueueTable, Store } from '../../../store/store.js'
import type { Change } from '../../events/journal.js'
import { rootOf, sessionOrThrow, type Rows, type Work } from '../state/core.js'

/** Items that are remembered, and characters of a text that are looked at for its preview. */
const REMEMBERED = 4096
const SEEN = 4096

interface Item {
  readonly messageId: string
  readonly noReply: boolean
  readonly partCount: number
  readonly text: string | null
  readonly agent: string | null
  readonly model: UserModel | null
}

/** What is shown of rows, which never change; reading all of a long queue at each change of it would take long. */
const shown = new WeakMap<QueueTable, Lru<string, Item>>()

/** Rows a person put there; runtime notifications are neither listed nor counted. */
function visibleRows({ queue }: Pick<Store, 'queue'>, sessionId: string): QueueHead[] {
  return queue.list(sessionId).filter(({ delivery }) => delivery !== 'continue')
}

/** `isAtWork`: it is, whether or not that is committed yet. */
export function queueInfo(core: Pick<Rows & Work, 'store' | 'statuses'>, sessionId: string, isAtWork = false): SessionQueueInfo {
  const rows = visibleRows(core.store, sessionId)
  const running = core.statuses.run(sessionId) !== undefined
  return {
    sessionId,
    count: rows.length,
    running,
    worker: isAtWork || !core.statuses.isIdle(sessionId),
    items: rows.flatMap(({ id, held }, index) => {
      const item = itemOf(core.store, id)
      return item === undefined ? [] : [{ index, ...item, ...(held && { held }) }]
    }),
  }
}

function itemOf({ queue }: Pick<Store, 'queue'>, id: string): Item | undefined {
  const items = shown.get(queue) ?? createLru<string, Item>(REMEMBERED)
  shown.set(queue, items)
  const known = items.get(id)
  if (known !== undefined) return known
  const request = queue.get(id)?.request
  if (request === undefined) return undefined
  const item: Item = {
    messageId: request.messageId,
    noReply: request.noReply,
    partCount: request.parts.length,
    text: previewOf(request),
    agent: request.agent ?? null,
    model: request.model ?? null,
  }
  items.set(id, item)
  return item
}

/** The first part in one line of at most `queuePreview` characters. */
function previewOf(prompt: QueuedPrompt): string | null {
  const [part] = prompt.parts
  if (part === undefined) return null
  if (part.type === 'agent') return `@${part.name}`
  if (part.type === 'file') return `@${part.filename}`
  if (part.type === 'subtask') return cut(`@${part.agent} ${part.description === '' ? part.prompt : part.description}`)
  return cut(part.text)
}

function cut(text: string): string {
  const whole = text.trim()
  const line = [...whole.slice(0, SEEN).replaceAll(/\s*\n\s*/g, ' ')]
  const most = LIMITS.sessions.queuePreview
  return whole.length <= SEEN && line.length <= most ? line.join('') : `${line.slice(0, most).join('')}...`
}

/** `busy` with what waits for its turn, as published after a queue change. */
export function busyStatus(core: Pick<Rows, 'store'>, sessionId: string): { status: SessionStatus; queued: number } {
  const rows = visibleRows(core.store, sessionId).filter(({ held }) => !held)
  const [first] = rows
  if (first === undefined) return { status: { type: 'busy' }, queued: 0 }
  const preview = itemOf(core.store, first.id)?.text ?? null
  return { status: { type: 'busy', queue: { count: rows.length, ...(preview === null ? {} : { preview }) } }, queued: rows.length }
}

/** Of the visible rows; with `all`, also of what the runtime has to tell (sessions-events §5.4). */
export function clearQueue(core: Rows & Work, sessionId: string, all?: 'all'): SessionQueueMutation {
  if (all === undefined) return removeRows(core, sessionId, 'clear', visibleRows(core.store, sessionId))
  return removeRows(core, sessionId, 'clear-all', core.store.queue.list(sessionId))
}

/** What becomes of the rows that have their turn after a run that is being aborted (choice 41). */
export function stopQueue(core: Rows & Work, sessionId: string, how: AbortQueue): void {
  if (how === 'go-on') return
  const rows = visibleRows(core.store, sessionId).filter(({ held }) => !held)
  if (rows.length === 0) return
  if (how === 'clear') return void removeRows(core, sessionId, 'clear', rows)
  core.journal.commit('power', (tx) => {
    for (const { id } of rows) core.store.queue.setHeld(id, true)
    const queue = queueInfo(core, sessionId)
    tx.emit('session.queue.updated', { sessionID: sessionId, action: 'hold', removed: 0, queue, messageIDs: messageIds(core, rows) })
    publishQueueStatus(core, tx, sessionId)
    core.executions.settle(tx, rootOf(core, sessionId))
  })
}

function messageIds({ store }: Rows, rows: readonly QueueHead[]): string[] {
  return rows.flatMap(({ id }) => itemOf(store, id)?.messageId ?? [])
}

/** Removes the oldest visible row (choice 5), or that of one message. */
export function popQueue(core: Rows & Work, sessionId: string, messageId?: string): SessionQueueMutation {
  const rows = visibleRows(core.store, sessionId)
  const named = messageId === undefined ? rows[0]?.id : core.store.queue.byMessageId(messageId)?.id
  return removeRows(
    core,
    sessionId,
    'pop',
    rows.filter(({ id }) => id === named),
  )
}

/** Tells the status of a session in whose queue something waits. */
export function publishWaiting(core: Rows & Work, tx: Change, sessionId: string): void {
  const current = core.statuses.get(sessionId)
  const { status, queued } = busyStatus(core, sessionId)
  core.statuses.set(tx, sessionOrThrow(core, sessionId), current.type === 'retry' ? current : status, queued, core.statuses.run(sessionId))
}

function removeRows(
  core: Rows & Work,
  sessionId: string,
  action: 'clear' | 'clear-all' | 'pop',
  rows: readonly QueueHead[],
): SessionQueueMutation {
  const session = sessionOrThrow(core, sessionId)
  if (rows.length === 0) return { sessionId, removed: 0, queue: queueInfo(core, sessionId) }
  const [first] = action === 'pop' ? rows : []
  const request = first && core.store.queue.get(first.id)?.request
  const ids = messageIds(core, rows)
  return core.journal.commit('power', (tx) => {
    for (const row of rows) core.store.queue.remove(row.id)
    const queue = queueInfo(core, sessionId)
    const data = { sessionID: sessionId, action, removed: rows.length, queue, messageIDs: ids }
    if (request === undefined) tx.emit('session.queue.updated', data)
    else {
      const popped = toldRequest(request)
      tx.emitWith('session.queue.updated', { ...data, request: popped }, 'request', core.store.contents.writtenPrompt(sessionId, popped))
    }
    core.store.messages.sweepContents(sessionId)
    publishQueueStatus(core, tx, sessionId)
    core.executions.settle(tx, rootOf(core, sessionId))
    return { sessionId: session.id, removed: rows.length, queue }
  })
}

/** Repeats the status of a busy session with its new queue; an idle session says so only when it becomes idle. */
function publishQueueStatus(core: Rows & Work, tx: Change, sessionId: string): void {
  if (!core.statuses.isIdle(sessionId)) publishWaiting(core, tx, sessionId)
}

/** What events tell of a prompt. */
export function toldRequest({ calls: _calls, parts, ...request }: QueuedPrompt) {
  return { ...request, parts: [...parts] }
}

/** A prompt that is only stored: nothing is called for it and nobody answers. */
export function isSilent({ noReply, calls }: QueuedPrompt): boolean {
  return noReply && calls === undefined
}

/** By prompt: it is asked several times on the way into a run, and in each step of it. */
const long = new WeakMap<QueuedPrompt, boolean>()

/** Whether moving a prompt takes so long that others get a turn in between. */
export function isLongPrompt(prompt: QueuedPrompt): boolean {
  const isLong = long.get(prompt) ?? lengthOf(prompt) > LIMITS.sessions.longPrompt
  long.set(prompt, isLong)
  return isLong
}

function lengthOf({ parts, ...rest }: QueuedPrompt): number {
  const lengths = parts.map((part) => (part.type === 'file' ? part.url.length : JSON.stringify(part).length))
  return lengths.reduce((sum, length) => sum + length, JSON.stringify(rest).length)
}

/** Takes a row out of its queue, with its event, inside the caller's commit. `isAtWork`: see `queueInfo`. */
export function dequeue(core: Pick<Rows & Work, 'store' | 'statuses'>, tx: Change, row: QueueRow, isAtWork = false): void {
  const { sessionId, delivery } = row
  core.store.queue.remove(row.id)
  const queue = queueInfo(core, sessionId, isAtWork)
  tx.emit('session.queue.updated', {
    sessionID: sessionId,
    action: 'dequeue',
    removed: 1,
    queue,
    messageID: row.request.messageId,
    delivery,
  })
}
