/** Stored messages over HTTP: reading, deleting, replacing parts (sessions-events §3.8). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message, Part } from '../../../protocol/message/message.js'
import type { RawJson } from '../../../ports/facades.js'
import { CompactionSummary } from '../../../protocol/session/compaction.js'
import type { Session } from '../../../protocol/session/session.js'
import type { MessageSliceQuery } from '../../../store/store.js'
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows, type Work } from '../state/core.js'
import { summaryRecordOf } from './conversation.js'
import { slicesOf } from '../state/slices.js'

/** What a part that replaces another may measure as JSON; its event needs some room as well. */
const PART_BYTES = LIMITS.events.recordBytes - 1024

type HistoryCore = Pick<Rows & Work, 'store' | 'journal' | 'live' | 'transcripts' | 'effects' | 'restores'>

export interface MessageQuery {
  readonly limit?: number | undefined
  readonly order?: 'asc' | 'desc' | undefined
  readonly slim?: boolean | undefined
  readonly cursor?: string | undefined
}

/** A page as JSON text; `slim` leaves file snapshots out of tool and reasoning metadata. */
export function messagePage(core: HistoryCore, sessionId: string, { limit, order = 'asc', slim, cursor }: MessageQuery): RawJson {
  sessionOrThrow(core, sessionId)
  const query = { sessionId, order, limit, after: cursor }
  const textOf = (json: string) => (slim === true ? slimJson(json) : json)
  return listed(core, query, {
    head: '{"items":[',
    textOf,
    tail: (last, count) => `],"cursor":${count === limit && last !== undefined ? JSON.stringify({ next: last }) : '{}'}}`,
  })
}

export function messageList(core: HistoryCore, sessionId: string): RawJson {
  sessionOrThrow(core, sessionId)
  return listed(core, { sessionId, order: 'asc' }, { head: '[', textOf: (json) => json, tail: () => ']' })
}

interface Frame {
  readonly head: string
  textOf(json: string): string
  /** `last` is the id of the last of all `count` messages. */
  tail(last: string | undefined, count: number): string
}

/** In one piece where one slice is all of it. */
function listed({ store }: HistoryCore, query: Omit<MessageSliceQuery, 'characters'>, { head, textOf, tail }: Frame): RawJson {
  const first = store.messages.slice({ ...query, characters: LIMITS.sessions.sliceCharacters })
  const { items, next } = first
  const whole = ({ items: all }: typeof first) => head + all.map(({ json }) => textOf(json)).join(',') + tail(all.at(-1)?.id, all.length)
  if (next === undefined || items.length === query.limit) return { rawJson: whole(first) }
  return {
    get rawJson() {
      return whole(store.messages.slice({ ...query, characters: Number.POSITIVE_INFINITY }))
    },
    async *pieces() {
      let lead = head
      let last: string | undefined
      let count = 0
      for await (const slice of slicesOf(store, query)) {
        if (slice.length > 0) yield lead + slice.map(({ json }) => textOf(json)).join(',')
        if (slice.length > 0) lead = ','
        last = slice.at(-1)?.id ?? last
        count += slice.length
      }
      yield (lead === head ? head : '') + tail(last, count)
    },
  }
}

function slimJson(json: string): string {
  if (!json.includes('"snapshots"')) return json
  const message = JSON.parse(json) as Message
  for (const part of message.parts) {
    if (part.type === 'tool') {
      dropSnapshots(part.metadata)
      if (part.state.status === 'completed') dropSnapshots(part.state.metadata)
    } else if (part.type === 'reasoning') dropSnapshots(part.metadata)
  }
  return JSON.stringify(message)
}

function dropSnapshots(metadata: unknown): void {
  if (typeof metadata !== 'object' || metadata === null || !('snapshots' in metadata)) return
  delete metadata.snapshots
  Object.assign(metadata, { snapshotsOmitted: true })
}

export function getMessage(core: HistoryCore, sessionId: string, messageId: string): Message {
  const message = core.store.messages.get(messageId)
  if (message?.info.sessionId !== sessionId) {
    throw new SvcError('resource.not_found', `There is no message "${messageId}" in this session.`, { sessionId, messageId })
  }
  return message
}

function partOf(core: HistoryCore, sessionId: string, messageId: string, partId: string): Part {
  const part = core.store.messages.getPart(partId)
  if (part?.sessionId !== sessionId || part.messageId !== messageId) {
    throw new SvcError('resource.not_found', `There is no part "${partId}" in this message.`, { sessionId, messageId, partId })
  }
  return part
}

function refuseWhileGenerating(core: HistoryCore, sessionId: string, messageId: string): void {
  if (core.restores.isActive(sessionId))
    throw new SvcError('resource.conflict', 'The session is being restored; try again when that has ended.', { sessionId })
  if (!core.live.has(messageId)) return
  throw new SvcError('resource.conflict', 'The message is being generated; wait until the run has ended or abort it.', { messageId })
}

export function deleteMessage(core: HistoryCore, sessionId: string, messageId: string): true {
  getMessage(core, sessionId, messageId)
  refuseWhileGenerating(core, sessionId, messageId)
  core.journal.commit('power', (tx) => {
    core.store.messages.remove(messageId)
    core.store.messages.sweepContents(sessionId)
    tx.emit('message.removed', { sessionID: sessionId, messageID: messageId })
    forgetSummary(core, tx, sessionId, messageId)
    tx.after(() => core.transcripts.forget(sessionId))
  })
  return true
}

/** Without its message a summary says nothing any more: the record of the session names the one before, if there is one. */
function forgetSummary({ store }: HistoryCore, tx: Change, sessionId: string, messageId: string): void {
  const session = store.sessions.get(sessionId)
  const { throughMessageID } = CompactionSummary.partial().safeParse(session?.['summary']).data ?? {}
  if (session === undefined || throughMessageID !== messageId) return
  const { summary: _gone, ...rest } = session
  const summary = summaryRecordOf(store.messages.all(sessionId))
  const next: Session = summary === undefined ? rest : { ...rest, summary }
  tx.emitSession('session.updated', store.sessions.update(next))
}

export function replacePart(core: HistoryCore, sessionId: string, messageId: string, partId: string, part: Part): Part {
  if (part.id !== partId || part.messageId !== messageId || part.sessionId !== sessionId) {
    throw new SvcError('request.invalid', 'The ids in the body must equal the ids in the path.', { partId })
  }
  const before = partOf(core, sessionId, messageId, partId)
  if (before.type !== part.type)
    throw new SvcError('request.unprocessable', `A ${before.type} part cannot become a ${part.type} part.`, { partId })
  if (part.type === 'tool' && (part.state.status === 'pending' || part.state.status === 'running')) {
    throw new SvcError('request.unprocessable', 'A stored tool part is completed or an error; it cannot be made to run.', { partId })
  }
  if (Buffer.byteLength(JSON.stringify(part)) > PART_BYTES) {
    throw new SvcError('request.unprocessable', 'A part is at most 1 MiB of JSON, so that it fits into one event.', { partId })
  }
  refuseWhileGenerating(core, sessionId, messageId)
  const next = withNotesOf(before, part)
  core.journal.commit('power', (tx) => {
    tx.emitPart(core.store.messages.putPart(next), core.effects.clock.now())
    tx.after(() => core.transcripts.forget(sessionId))
  })
  return next
}

export function deletePart(core: HistoryCore, sessionId: string, messageId: string, partId: string): true {
  partOf(core, sessionId, messageId, partId)
  refuseWhileGenerating(core, sessionId, messageId)
  core.journal.commit('power', (tx) => {
    core.store.messages.removePart(partId)
    core.store.messages.sweepContents(sessionId)
    tx.emit('message.part.removed', { sessionID: sessionId, messageID: messageId, partID: partId })
    tx.after(() => core.transcripts.forget(sessionId))
  })
  return true
}

/** What a call has changed on disk is no caller's to say: undo would write it. */
function withNotesOf(before: Part, part: Part): Part {
  if (before.type !== 'tool' || part.type !== 'tool') return part
  const metadata = keepNotes(before.metadata, part.metadata)
  const next = { ...part, ...(metadata !== undefined && { metadata }) }
  if (part.state.status !== 'completed') return next
  const settled = before.state.status === 'completed' ? before.state.metadata : {}
  return { ...next, state: { ...part.state, metadata: keepNotes(settled, part.state.metadata) ?? {} } }
}

/** A part that came from elsewhere: nobody knows who says what it changed, so its turn cannot be undone. */
export function withoutNotes(part: Part, unkept: string): Part {
  if (part.type !== 'tool') return part
  const settled = part.state.status === 'completed' ? part.state.metadata : undefined
  const noted = [part.metadata, settled].some((metadata) => Object.keys(recordOf(metadata)).some((name) => NOTES.includes(name)))
  if (!noted) return part
  const next = { ...part, metadata: keepNotes({ unkept }, part.metadata) ?? {} }
  return part.state.status === 'completed' ? { ...next, state: { ...part.state, metadata: keepNotes({ unkept }, settled) ?? {} } } : next
}

const NOTES = ['snapshots', 'unkept', 'changing', 'interrupted']

function keepNotes(before: unknown, after: unknown): Record<string, unknown> | undefined {
  if (before === undefined && after === undefined) return undefined
  const kept = Object.entries(recordOf(before)).filter(([name]) => NOTES.includes(name))
  const given = Object.entries(recordOf(after)).filter(([name]) => !NOTES.includes(name))
  return Object.fromEntries([...given, ...kept])
}

function recordOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
