/**
 * Attempts to sign in to servers: an actor for each, from the address somebody is sent to until there are tokens (subsystems f.5).
 *
 * I1 Of a server at an address one attempt waits for its answer at most: the one whose address was stored last.
 * I2 The file of credentials remembers an attempt over a restart; who brings its answer then begins it anew where it stood.
 * I3 No state, code or token enters the machine.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { type Actor, createActor, fromCallback, fromPromise } from 'xstate'
import type { NativeHost } from '../../../ports/plugin.js'
import { type SignInEvent, signInMachine, type SignInOffer } from '../../../machines/sign-in/sign-in.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { reached } from '../../../kernel/reached.js'
import { supervise } from '../../../kernel/supervise.js'

interface AttemptsDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'log'>
  readonly actors: NativeHost['actors']
}

/** Of which server, at which address. */
interface AttemptPlace {
  readonly server: string
  readonly key: string
}

export interface Attempts {
  /** Begins one, and resolves with where somebody goes: what `offer` answers once the attempt is stored. Rejects as it does. */
  begin(place: AttemptPlace, offer: () => Promise<string>): Promise<string>
  /** Its answer has come, and is nobody else's any more. */
  take(place: AttemptPlace): Taken
  /** Of an attempt that waits for its answer: nobody does any more. */
  forget(place: AttemptPlace): void
  stop(): void
}

/** An attempt whose answer has come. One of them is called, once. */
export interface Taken {
  /** Resolves once `exchange` has; rejects as it does. */
  finish(exchange: () => Promise<void>): Promise<void>
  refuse(reason: string): void
  late(): void
}

/** What is asked of an attempt that is under way. */
interface Attempt {
  readonly ref: Actor<typeof signInMachine>
  readonly effects: AttemptEffects
}

interface AttemptEffects {
  readonly offer: () => Promise<string>
  exchange: (() => Promise<void>) | undefined
  /** What came before it was waited for. */
  early: SignInEvent | undefined
  fault: Error | undefined
}

/** What is left of its time when the answer comes last is for the exchange. */
const LIFETIME = LIMITS.mcp.attemptAge + 4 * LIMITS.mcp.discovery

export function createAttempts({ effects: { clock, log }, actors }: AttemptsDeps): Attempts {
  /** Those that wait for an answer. */
  const waiting = new Map<string, Attempt>()
  const supervised = supervise<typeof signInMachine>({ effects: { clock, log }, kind: 'sign-in', actors, onEnded: (_, ref) => leave(ref) })
  let count = 0

  function start({ server }: AttemptPlace, effects: AttemptEffects): Attempt {
    const attemptId = `${server}:${++count}`
    const input = { attemptId, at: server, kind: 'browser', lifetime: LIFETIME } as const
    const ref = supervised.start(attemptId, (options) => createActor(logicOf(effects), { id: `sign-in:${attemptId}`, input, ...options }))
    if (ref === undefined) throw new SvcError('lifecycle.closed')
    return { ref, effects }
  }

  function leave(ref: Attempt['ref']): void {
    for (const [key, attempt] of waiting) if (attempt.ref === ref) waiting.delete(key)
  }

  function forget({ key }: AttemptPlace): void {
    const attempt = waiting.get(key)
    waiting.delete(key)
    if (attempt !== undefined) tell(attempt, { type: 'cancel.requested' })
  }

  return {
    async begin(place, offer) {
      const effects: AttemptEffects = {
        offer: async () => {
          const url = await offer()
          forget(place) // I1
          waiting.set(place.key, attempt)
          return url
        },
        exchange: undefined,
        early: undefined,
        fault: undefined,
      }
      const attempt: Attempt = start(place, effects)
      await reached(attempt.ref, (snapshot) => !snapshot.hasTag('offering'))
      const { offer: made } = attempt.ref.getSnapshot().context
      if (made === undefined) throw effects.fault ?? new SvcError('lifecycle.closed')
      return made.url
    },
    take(place) {
      const known = waiting.get(place.key)
      waiting.delete(place.key)
      const isOpen = known?.ref.getSnapshot().hasTag('open') === true
      const attempt = known !== undefined && isOpen ? known : start(place, remembered())
      return {
        async finish(exchange) {
          attempt.effects.exchange = exchange
          answer(attempt, { type: 'answer.arrived' })
          await reached(attempt.ref, (snapshot) => !snapshot.hasTag('open'))
          if (!attempt.ref.getSnapshot().hasTag('connected')) throw attempt.effects.fault ?? new SvcError('lifecycle.closed')
        },
        refuse: (reason) => answer(attempt, { type: 'answer.refused', reason }),
        late: () => answer(attempt, { type: 'answer.late' }),
      }
    },
    forget,
    stop() {
      void supervised.drain((ref) => {
        // One whose code is being exchanged ends by itself, soon.
        const snapshot = ref.getSnapshot()
        if (snapshot.hasTag('offering') || snapshot.hasTag('waiting')) ref.send({ type: 'cancel.requested' })
      })
    },
  }
}

/** I2: it was offered before a restart. */
function remembered(): AttemptEffects {
  return { offer: () => Promise.resolve(''), exchange: undefined, early: undefined, fault: undefined }
}

function logicOf(effects: AttemptEffects): typeof signInMachine {
  const kept = (error: unknown): never => {
    effects.fault = error instanceof Error ? error : new Error(String(error))
    throw error
  }
  return chartOf(signInMachine).provide({
    actors: {
      offer: fromPromise(async (): Promise<SignInOffer> => ({ url: await effects.offer().catch(kept), instructions: '' })),
      hear: fromCallback(({ sendBack }) => {
        if (effects.early !== undefined) sendBack(effects.early)
      }),
      exchange: fromPromise(async () => effects.exchange?.().catch(kept)),
    },
  })
}

/** Its answer, also while it is not waited for yet. */
function answer(attempt: Attempt, event: SignInEvent): void {
  attempt.effects.early = event
  if (attempt.ref.getSnapshot().hasTag('waiting')) tell(attempt, event)
}

function tell({ ref }: Attempt, event: SignInEvent): void {
  if (ref.getSnapshot().status === 'active') ref.send(event)
}
