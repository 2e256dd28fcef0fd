/** Copies of sessions, whole or up to a message (sessions-events §2.10). */
import { SvcError } from '../../../protocol/errors.js'
import type { Message, MessageInfo, Part } from '../../../protocol/message/message.js'
import type { ForkSessionRequest } from '../../../protocol/session/sharing.js'
import type { Session } from '../../../protocol/session/session.js'
import { type SessionCore, sessionOrThrow } from '../core.js'
import { summaryRecordOf } from './conversation.js'
import { slugOf } from '../state/slug.js'

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
] as const

/** A message that is still being generated is not copied; `messageId` cannot name it. Emits `session.created` only. */
export async function forkSession(core: SessionCore, sourceId: string, { messageId }: ForkSessionRequest): Promise<Session> {
  const { effects, store, journal } = core
  const source = sessionOrThrow(core, sourceId)
  const messages = upTo(core, sourceId, messageId)
  const now = effects.clock.now()
  const own = new Set<string>(OWN)
  const session: Session = {
    ...source,
    id: effects.ids.next('ses'),
    slug: slugOf(effects.random.bytes(2)),
    parentId: sourceId,
    title: `Fork - ${source.title}`.slice(0, TITLE),
    version: core.version,
    time: { created: now, updated: now },
  }
  const copies = messages.map(copier(core, session.id))
  const summary = summaryRecordOf(copies)
  const kept = Object.fromEntries(Object.entries(session).filter(([key]) => !own.has(key) && !key.startsWith('subtask'))) as Session
  const info: Session = summary === undefined ? kept : { ...kept, summary }
  journal.commit('process', (tx) => {
    store.sessions.insert(info)
    store.keptContents.share(sourceId, info.id)
    for (const copy of copies) store.messages.append(copy.info, copy.parts)
    const todos = store.todos.get(sourceId)
    if (todos.length > 0) store.todos.put(info.id, todos)
    tx.emit('session.created', { sessionID: info.id, info })
    tx.after(() => core.families.added(info.id, sourceId))
  })
  await journal.synced()
  return info
}

function upTo({ store }: SessionCore, sessionId: string, messageId: string | undefined): readonly Message[] {
  const messages = store.messages.all(sessionId)
  const last = messageId === undefined ? messages.length - 1 : messages.findIndex(({ info }) => info.id === messageId)
  if (messageId !== undefined && last < 0)
    throw new SvcError('resource.not_found', `There is no message "${messageId}" in this session.`, { sessionId, messageId })
  const copied = messages.slice(0, last + 1).filter(({ info }) => !isOpen(info))
  if (messageId !== undefined && copied.at(-1)?.info.id !== messageId)
    throw new SvcError('resource.conflict', 'The message is being generated; wait until the run has ended or abort it.', {
      sessionId,
      messageId,
    })
  return copied
}

export const isOpen = (info: MessageInfo) => info.role === 'assistant' && info.time.completed === undefined

/** Messages with ids of their own; what they say of each other follows. */
export function copier({ effects: { ids } }: SessionCore, sessionId: string): (message: Message) => Message {
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
