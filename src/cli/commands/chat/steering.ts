/**
 * Prompts that steer the run that is under way, from the moment they are sent until it is known what became of them.
 *
 * I1 A prompt is open until a run is heard to have it, or the server has said that it is not in the queue any more.
 * I2 What is still open when the run is over has been asked for, one by one: it was taken back, or has a run of its own.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { PromptRequest } from '../../../protocol/message/message.js'
import type { Client, PromptOptions } from '../../../published/client/client-types.js'

type SeenEvent = Parameters<NonNullable<PromptOptions['onEvent']>>[0]

/** For the outcome of what is being sent, ms. */
const PATIENCE = 5000
/** What was admitted begins, or is told as gone, within moments. */
const BEGINS_MS = 25
const MOST_TRIES = 80
/** What was removed from the queue is told by whoever gives it back. */
const GONE: ReadonlySet<string> = new Set(['clear', 'clear-all', 'pop'])

export interface Steer {
  readonly sessionId: string
  readonly request: PromptRequest & { readonly messageId: string }
}

/** `failed`: the server may have it nevertheless. */
type Outcome = 'sent' | 'failed' | 'pending'

interface Sent extends Steer {
  /** Never rejects. */
  readonly outcome: Promise<Outcome>
}

type Fate = 'taken-back' | 'runs' | 'unknown'

export interface Steering {
  /** Rejects as the call does; the prompt is open then, too: the server may have it. */
  send(steer: Steer): Promise<void>
  /** What hears the events of one run that is followed. */
  listen(): (event: SeenEvent) => void
  /** Resolves once the server has answered for all that is being sent, or has not within five seconds. */
  sent(): Promise<void>
  /** What became of all that is open; with `isStopped` what still waits is taken back. Nothing is open then. */
  settle(isStopped: () => boolean): Promise<readonly (Steer & { readonly fate: Fate })[]>
}

export function createSteering({ sessions }: Pick<Client, 'sessions'>): Steering {
  const open = new Map<string, Sent>()
  const sent = async () => {
    const outcomes = Promise.all([...open.values()].map(({ outcome }) => outcome))
    await Promise.race([outcomes, delay(PATIENCE, undefined, { ref: false })])
  }
  return {
    sent,
    send(steer) {
      const { sessionId, request } = steer
      const sending = sessions.prompt({ sessionId, body: request })
      const outcome = sending.then(
        () => 'sent' as const,
        () => 'failed' as const,
      )
      open.set(request.messageId, { ...steer, outcome })
      return sending.then(() => undefined)
    },
    listen() {
      let runId: string | undefined
      /** Stored, and not yet known in which run. */
      const stored = new Set<string>()
      const close = (ids: Iterable<string>) => {
        for (const id of ids) open.delete(id)
      }
      return (event) => {
        if (event.type === 'message.updated' && event.data.info.role === 'user') {
          if (open.has(event.data.info.id)) stored.add(event.data.info.id)
        } else if (event.type === 'message.updated' || (event.type === 'session.status' && event.data.status.type === 'idle')) {
          close(stored)
          stored.clear()
        } else if (event.type === 'session.status') {
          const { runID = runId } = event.data.status
          // I1. A run that begins with it is another one, and nobody follows that yet.
          if (runId !== undefined && runID !== runId) stored.clear()
          runId = runID
        } else if (event.type === 'session.queue.updated' && GONE.has(event.data.action)) close(event.data.messageIDs ?? [])
      }
    },
    async settle(isStopped) {
      const settled: (Steer & { readonly fate: Fate })[] = []
      while (open.size > 0) {
        await sent()
        for (const [messageId, { outcome, ...steer }] of open) {
          open.delete(messageId)
          const known = await Promise.race<Outcome>([outcome, Promise.resolve('pending')])
          settled.push({ ...steer, fate: await fateOf(sessions, steer, known, isStopped) })
        }
      }
      return settled
    },
  }
}

function fateOf(sessions: Client['sessions'], { sessionId, request }: Steer, known: Outcome, isStopped: () => boolean): Promise<Fate> {
  if (known === 'pending') return Promise.resolve('unknown')
  if (known === 'sent' && !isStopped()) return Promise.resolve('runs')
  return takeBack(sessions, sessionId, request.messageId).catch(() => 'unknown')
}

/** While it waits. What was admitted and has not begun is neither in the queue nor stored: it is looked for again. */
async function takeBack(sessions: Client['sessions'], sessionId: string, messageId: string): Promise<Fate> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    // The status first: what is idle now has stored its messages before.
    const isIdle = (await sessions.status())[sessionId] === undefined
    if ((await sessions.queue.pop({ sessionId, messageId })).removed > 0) return 'taken-back'
    if (await isStored(sessions, sessionId, messageId)) return 'runs'
    if (isIdle) return 'taken-back'
    await delay(BEGINS_MS)
  }
  return 'unknown'
}

export function isStored(sessions: Client['sessions'], sessionId: string, messageId: string): Promise<boolean> {
  return sessions.messages.get({ sessionId, messageId }).then(
    () => true,
    () => false,
  )
}
