/** The state of a prompt as the server keeps it, told as the events that led to it: for events that were missed. */
import type { Message } from '../../protocol/message/message.js'
import type { SessionStatus } from '../../protocol/session/session.js'
import { SvcClientError } from './error.js'
import type { Operations, SvcEvent } from './operation-types.js'

const PAGE = 100

/** What became of a prompt. `absent`: no run has taken it; `unknown`: who looks again knows. */
type Standing =
  | { readonly is: 'absent'; readonly isIdle: boolean }
  | { readonly is: 'over' | 'unknown' }
  /** It is part of this run, which is under way. */
  | { readonly is: 'running'; readonly runId: string }

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
  const before = statuses[sessionId]
  const [messages, permissions, questions] = await Promise.all([
    messagesSince(operations, sessionId, messageId, signal),
    operations.interactions.permissions.list({ sessionId, signal }),
    operations.interactions.questions.list({ sessionId, signal }),
  ])
  const standing = standingOf(before, (await operations.sessions.status({ signal }))[sessionId], messages[0]?.info.time.created)
  const told = (status: SessionStatus) => event('session.status', { sessionID: sessionId, status })
  return [
    ...messages.flatMap((message) => eventsOf(message)),
    ...permissions.map((data) => event('permission.asked', data)),
    ...questions.map((data) => event('question.asked', data)),
    ...(before === undefined || standing.is === 'over' ? [told({ type: 'idle' })] : []),
    ...(standing.is === 'running' ? [told({ type: 'busy', runID: standing.runId })] : []),
  ]
}

export async function findStanding(
  { sessions }: Pick<Operations, 'sessions'>,
  place: { readonly sessionId: string; readonly messageId: string; readonly signal: AbortSignal },
): Promise<Standing> {
  const { sessionId, signal } = place
  const status = async () => (await sessions.status({ signal }))[sessionId]
  const before = await status()
  const created = await sessions.messages.get(place).then(
    ({ info }) => info.time.created,
    (error: unknown) => {
      if (error instanceof SvcClientError && error.code === 'resource.not_found') return undefined
      throw error
    },
  )
  return standingOf(before, await status(), created)
}

/** From the status before and after its message was looked for, which came to be when a run took it. One run works at a time. */
function standingOf(before: SessionStatus | undefined, after: SessionStatus | undefined, created: number | undefined): Standing {
  if (created === undefined) return { is: 'absent', isIdle: before === undefined }
  if (after === undefined) return { is: 'over' }
  const { runID: runId, startedAt } = after
  if (runId === undefined || startedAt === undefined || runId !== before?.runID) return { is: 'unknown' }
  return created < startedAt ? { is: 'over' } : { is: 'running', runId }
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
