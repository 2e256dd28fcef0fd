/** The state of a prompt as the server keeps it, told as the events that led to it: for events that were missed. */
import type { Message } from '../../protocol/message/message.js'
import type { Operations, SvcEvent } from './operation-types.js'

const PAGE = 100

/**
 * Events for a transcript, in order; ask only after the stream is open again. Unfinished messages are left to that stream,
 * which begins with them.
 */
export async function catchUp(
  operations: Pick<Operations, 'sessions' | 'interactions'>,
  sessionId: string,
  messageId: string,
  signal: AbortSignal,
): Promise<readonly SvcEvent[]> {
  // The status first: what is idle now has stored its last message before.
  const statuses = await operations.sessions.status({ signal })
  const [messages, permissions, questions] = await Promise.all([
    messagesSince(operations, sessionId, messageId, signal),
    operations.interactions.permissions.list({ sessionId, signal }),
    operations.interactions.questions.list({ sessionId, signal }),
  ])
  const idle = statuses[sessionId] === undefined
  return [
    ...messages.flatMap((message) => eventsOf(message)),
    ...permissions.map((data) => event('permission.asked', data)),
    ...questions.map((data) => event('question.asked', data)),
    ...(idle ? [event('session.status', { sessionID: sessionId, status: { type: 'idle' } })] : []),
  ]
}

/** Requests that are still open after what was missed. */
export function openRequests(missed: readonly SvcEvent[]): ReadonlySet<string> {
  return new Set(missed.flatMap((each) => (each.type === 'permission.asked' || each.type === 'question.asked' ? [each.data.id] : [])))
}

/** The prompt and what follows it, oldest first; empty while it waits for its turn. */
async function messagesSince(
  { sessions }: Pick<Operations, 'sessions'>,
  sessionId: string,
  messageId: string,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const newestFirst: Message[] = []
  let cursor: string | undefined
  do {
    const page = await sessions.messages({ sessionId, order: 'desc', limit: PAGE, cursor, signal })
    for (const message of page.items) {
      newestFirst.push(message)
      if (message.info.id === messageId) return newestFirst.toReversed()
    }
    cursor = page.cursor.next
  } while (cursor !== undefined)
  return []
}

function eventsOf({ info, parts }: Message): readonly SvcEvent[] {
  if (info.role === 'assistant' && info.time.completed === undefined) return []
  const sessionID = info.sessionId
  if (info.role === 'user') return [event('message.updated', { sessionID, info })]
  const { completed: _, ...time } = info.time
  return [
    // Parts are told of a message that is under way.
    event('message.updated', { sessionID, info: { ...info, time } }),
    ...parts.map((part) => event('message.part.updated', { sessionID, part, time: info.time.created })),
    event('message.updated', { sessionID, info }),
  ]
}

export function event<T extends SvcEvent['type']>(type: T, data: Extract<SvcEvent, { type: T }>['data']): SvcEvent {
  return { id: '', sequence: 0, type, source: 'svc.core', schemaVersion: '', timestamp: 0, data } as unknown as SvcEvent
}
