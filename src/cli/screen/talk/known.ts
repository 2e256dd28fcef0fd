/** What the server keeps of a conversation, told as the events that led to it. */
import type { Client } from '../../../published/client/client-types.js'
import type { Message, SessionQueueInfo } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Heard } from '../story/heard.js'

/** Messages that a conversation opens with; the terminal of a person holds no more at once. */
const NEWEST = 40
const PAGE = 100

export interface Known {
  readonly session: Session
  /** Oldest first. */
  readonly events: readonly Heard[]
  readonly queue: SessionQueueInfo
  /** There are older messages, which are not told. */
  readonly isLonger: boolean
  readonly open: ReadonlySet<string>
}

/** Ask once the event stream is open. `isTold`: of the messages told before, the newest of which ends the reading. */
export async function readKnown(
  client: Client,
  sessionId: string,
  isTold: (messageId: string) => boolean,
  signal: AbortSignal,
): Promise<Known> {
  // The status first: what is idle now has stored its last message before.
  const statuses = await client.sessions.status({ signal })
  const [session, read, permissions, questions, queue, children] = await Promise.all([
    client.sessions.get({ sessionId, signal }),
    newestMessages(client, sessionId, isTold, signal),
    client.interactions.permissions.list({ signal }),
    client.interactions.questions.list({ signal }),
    client.sessions.queue.list({ sessionId, signal }),
    client.sessions.children({ sessionId, signal }),
  ])
  const family = new Set([sessionId, ...children.items.map(({ id }) => id)])
  const asked = permissions.filter((each) => family.has(each.sessionId) || each.parentSessionID === sessionId)
  const questioned = questions.filter((each) => family.has(each.sessionId))
  return {
    session,
    queue,
    isLonger: read.isLonger,
    open: new Set([...asked, ...questioned].map(({ id }) => id)),
    events: [
      ...children.items.map((info) => event('session.created', { sessionID: info.id, info })),
      ...read.messages.flatMap(eventsOf),
      event('session.status', { sessionID: sessionId, status: statuses[sessionId] ?? { type: 'idle' } }),
      ...asked.map((data) => event('permission.asked', data)),
      ...questioned.map((data) => event('question.asked', data)),
    ],
  }
}

async function newestMessages(
  { sessions }: Client,
  sessionId: string,
  isTold: (messageId: string) => boolean,
  signal: AbortSignal,
): Promise<{ readonly messages: readonly Message[]; readonly isLonger: boolean }> {
  const newestFirst: Message[] = []
  let cursor: string | undefined
  do {
    const page = await sessions.messages({ sessionId, order: 'desc', limit: newestFirst.length === 0 ? NEWEST : PAGE, cursor, signal })
    newestFirst.push(...page.items)
    const isMet = page.items.some(({ info }) => isTold(info.id))
    cursor = page.cursor.next
    // A conversation that is opened begins with its newest page.
    if (isMet || !newestFirst.some(({ info }) => isTold(info.id))) break
  } while (cursor !== undefined)
  return { messages: newestFirst.toReversed(), isLonger: cursor !== undefined }
}

function eventsOf({ info, parts }: Message): readonly Heard[] {
  const sessionID = info.sessionId
  // What is being written is left to the stream, which begins with it.
  if (info.role === 'assistant' && info.time.completed === undefined) return []
  const told = inOrder(parts).map((part) => event('message.part.updated', { sessionID, part, time: info.time.created }))
  if (info.role === 'user') return [event('message.updated', { sessionID, info }), ...told]
  const { completed: _, ...time } = info.time
  return [event('message.updated', { sessionID, info: { ...info, time } }), ...told, event('message.updated', { sessionID, info })]
}

/** A step begins with its text, which ends after what was thought for it: that is told first, as it was when it came. */
function inOrder(parts: Message['parts']): Message['parts'] {
  const ordered: Message['parts'] = []
  for (const part of parts) {
    const before = ordered.at(-1)
    const isThoughtFirst = part.type === 'reasoning' && before?.type === 'text' && (before.time?.end ?? 0) >= (part.time.end ?? 0)
    ordered.splice(isThoughtFirst ? -1 : ordered.length, 0, part)
  }
  return ordered
}

function event<T extends Heard['type']>(type: T, data: Extract<Heard, { type: T }>['data']): Heard {
  return { id: '', sequence: 0, type, source: 'svc.core', schemaVersion: '', timestamp: 0, data } as unknown as Heard
}
