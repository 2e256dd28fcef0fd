/** Copies of sessions, whole or up to a message (sessions-events §2.10). */
import { type Caller, LOCAL_TENANT } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message, MessageInfo, Part } from '../../../protocol/message/message.js'
import type { ForkSessionRequest } from '../../../protocol/session/sharing.js'
import type { Session } from '../../../protocol/session/session.js'
import { sizeOf } from '../../../protocol/text/size-of.js'
import { sessionOrThrow, type Rows, type Sources, type Work } from '../state/core.js'
import { appendAtOnce, appendInPieces } from './append-pieces.js'
import { refuseExternal } from '../state/external-agent.js'
import { summaryRecordOf } from './conversation.js'
import { keptQuotas, refuseTooManySessions } from '../state/session-quota.js'
import { slugOf } from '../state/slug.js'
import { STAGED_TENANT } from './staged.js'
import { slicesOf } from '../state/slices.js'

const TITLE = 1000

/** What belongs to the life of one session, not to its content. */
const OWN = [
  'revert',
  'executionID',
  'executionRootSessionID',
  'mode',
  'pendingMove',
  'pinned',
  'catalogActivity',
  'summary',
  'goal',
  'continues',
] as const

/** A message that is still being generated is not copied; `messageId` cannot name it. Emits `session.created` only, when everything is there. */
export async function forkSession(
  core: Rows & Sources & Pick<Work, 'restores'>,
  sourceId: string,
  { messageId }: ForkSessionRequest,
  caller: Pick<Caller, 'quotas'> = {},
): Promise<Session> {
  const { effects, store, journal } = core
  await core.restores.settled(sourceId) // its history moves in steps
  const source = sessionOrThrow(core, sourceId)
  refuseExternal(source, 'it cannot be copied')
  const kept = keptQuotas(caller, source)
  refuseTooManySessions(store, source.svcTenantId ?? LOCAL_TENANT, kept)
  const last = lastOf(core, sourceId, messageId)
  const now = effects.clock.now()
  const session: Session = {
    ...source,
    id: effects.ids.next('ses'),
    slug: slugOf(effects.random.bytes(2)),
    parentId: sourceId,
    title: `Fork - ${source.title}`.slice(0, TITLE),
    version: core.version,
    time: { created: now, updated: now },
    ...(kept.quotas !== undefined && { tenantQuotas: kept.quotas }),
  }
  const copy: Copy = { source, session, copies: copier(core, session.id), summary: undefined, isStaged: false }
  try {
    let rest: readonly Message[] = []
    for await (const messages of last === undefined ? [] : upTo(core, sourceId, last)) {
      await stage(core, copy, rest)
      rest = messages.filter(({ info }) => !isOpen(info)).map(copy.copies)
      copy.summary = summaryRecordOf(rest) ?? copy.summary
    }
    if (isLong(rest)) {
      await stage(core, copy, rest)
      rest = []
    }
    const info = publish(core, copy, rest)
    await journal.synced()
    return info
  } catch (error) {
    if (store.sessions.get(session.id)?.svcTenantId === STAGED_TENANT) journal.commit('process', () => store.sessions.delete(session.id))
    throw error
  }
}

interface Copy {
  readonly source: Session
  readonly session: Session
  readonly copies: ReturnType<typeof copier>
  summary: ReturnType<typeof summaryRecordOf>
  /** Some of it is stored, and nobody sees it yet. */
  isStaged: boolean
}

/** Stores what is not the end of it, or too long to be. */
async function stage(core: Rows, copy: Copy, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  const { parentId: _parent, ...alone } = copy.session
  if (!copy.isStaged) core.journal.commit('process', () => core.store.sessions.insert({ ...alone, svcTenantId: STAGED_TENANT }))
  copy.isStaged = true
  if (isLong(messages)) await appendInPieces(core, messages)
  else appendAtOnce(core, messages)
}

/** More than is usual of a slice: one of them is longer than that. */
function isLong(messages: readonly Message[]): boolean {
  return sizeOf(messages) > 2 * LIMITS.sessions.sliceCharacters
}

/** In one commit with the end of it. */
function publish(core: Rows, { source, session, summary, isStaged }: Copy, messages: readonly Message[]): Session {
  const { store, journal } = core
  if (isStaged && JSON.stringify(sessionOrThrow(core, source.id)['revert']) !== JSON.stringify(source['revert']))
    throw changedMeanwhile(source.id)
  const own = new Set<string>(OWN)
  const kept = Object.fromEntries(Object.entries(session).filter(([key]) => !own.has(key) && !key.startsWith('subtask'))) as Session
  const info: Session = summary === undefined ? kept : { ...kept, summary }
  journal.commit('process', (tx) => {
    refuseTooManySessions(store, info.svcTenantId ?? LOCAL_TENANT, keptQuotas({}, info))
    if (isStaged) store.sessions.update(info)
    else store.sessions.insert(info)
    store.keptContents.share(source.id, info.id)
    for (const message of messages) store.messages.append(message.info, message.parts)
    const todos = store.todos.get(source.id)
    if (todos.length > 0) store.todos.put(info.id, todos)
    tx.emit('session.created', { sessionID: info.id, info })
    tx.after(() => {
      core.owners.noted(info)
      core.families.added(info.id, source.id)
    })
  })
  return info
}

/** The message up to which is copied; undefined = there is none. */
function lastOf({ store }: Rows, sessionId: string, messageId: string | undefined): string | undefined {
  if (messageId === undefined) return store.messages.slice({ sessionId, order: 'desc', limit: 1, characters: 1 }).items[0]?.id
  const info = store.messages.getInfo(messageId)
  if (info?.sessionId !== sessionId)
    throw new SvcError('resource.not_found', `There is no message "${messageId}" in this session.`, { sessionId, messageId })
  if (isOpen(info))
    throw new SvcError('resource.conflict', 'The message is being generated; wait until the run has ended or abort it.', {
      sessionId,
      messageId,
    })
  return messageId
}

async function* upTo({ store }: Rows, sessionId: string, last: string): AsyncGenerator<readonly Message[]> {
  for await (const slice of slicesOf(store, { sessionId, order: 'asc' })) {
    const messages = slice.map(({ json }) => JSON.parse(json) as Message)
    const end = messages.findIndex(({ info }) => info.id === last)
    yield end === -1 ? messages : messages.slice(0, end + 1)
    if (end !== -1) return
  }
  throw changedMeanwhile(sessionId)
}

function changedMeanwhile(sessionId: string): SvcError {
  return new SvcError('resource.conflict', 'The history of the session was changed while it was copied; try again.', { sessionId })
}

export const isOpen = (info: MessageInfo) => info.role === 'assistant' && info.time.completed === undefined

/** Messages with ids of their own; what they say of each other follows. */
export function copier({ effects: { ids } }: Rows, sessionId: string): (message: Message) => Message {
  const renamed = new Map<string, string>()
  const nameOf = (id: string) => renamed.get(id) ?? id
  return ({ info, parts }) => {
    const id = ids.next('msg')
    renamed.set(info.id, id)
    return {
      info: { ...info, id, sessionId, ...(info.role === 'assistant' && { parentId: nameOf(info.parentId) }) },
      parts: parts.map((part): Part => {
        const copy = { ...part, id: ids.next('prt'), messageId: id, sessionId }
        return copy.type === 'compaction' && copy.tailStartMessageId !== undefined
          ? { ...copy, tailStartMessageId: nameOf(copy.tailStartMessageId) }
          : copy
      }),
    }
  }
}
