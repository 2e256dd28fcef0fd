/**
 * What one lease has opened and what goes on after its call, of one kind: an actor for each (`opened.machine.ts`).
 *
 * I1 At most `running` go on at a time; of those that have ended the latest `kept` are remembered.
 * I2 With the lease all of it ends: the table of the lease closes each, which tells it to end and waits for that.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { type Actor, createActor, fromPromise } from 'xstate'
import { createAlarm, type Timers } from '../../../kernel/alarm.js'
import { isActive, reached } from '../../../kernel/reached.js'
import { openedMachine } from '../../../machines/plugin/opened.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import type { BrokerLease } from './broker.js'
import type { HandleKind } from './handles.js'

/** What it does, and how it is ended. */
interface Undertaking {
  readonly timeoutMs: number
  /** Settles when nothing of it runs; soon after `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Ends it by force; absent = the signal is all there is. */
  kill?(): void
}

export interface Opening<About> {
  readonly opaqueId: string
  readonly about: About
  readonly isOver: boolean
  /** Who told it to end; null = nobody. */
  readonly stopped: 'time' | 'asked' | null
  /** Why it failed, as a sentence. */
  readonly failure: string | undefined
}

interface Waiting {
  readonly ms: number
  readonly signal: AbortSignal
  /** Ends the wait as well; forgotten with the signal it is given. */
  readonly changed?: (signal: AbortSignal) => Promise<void>
}

export interface Openings<About> {
  /** Throws `quota.exceeded` when as many as may go on. */
  refuseTooMany(): void
  /** Begins it. Throws as `refuseTooMany`, and when the lease is revoked. */
  open(about: About, undertaking: Undertaking): Opening<About>
  /** Throws `resource.not_found`. */
  find(opaqueId: string): Opening<About>
  all(): readonly Opening<About>[]
  /** Resolves when it has ended, when the time is over, or with `signal` or `changed`. */
  until(opaqueId: string, wait: Waiting): Promise<void>
  /** Tells it to end, waits until it has, and forgets it; false = it was not known. */
  close(opaqueId: string): Promise<boolean>
}

interface OpeningsOptions {
  readonly clock: Timers
  /** One of it, and many, in messages: `['program', 'programs']`. */
  readonly what: readonly [one: string, many: string]
  readonly kind: HandleKind
  readonly running: number
  readonly kept: number
}

type Ref = Actor<typeof openedMachine>

interface Entry<About> {
  readonly about: About
  /** Undefined until it is in the table. */
  ref?: Ref
}

export function createOpenings<About>(lease: Pick<BrokerLease, 'table'>, options: OpeningsOptions): Openings<About> {
  const { clock, kind, running, kept } = options
  const [what, many] = options.what
  const known = new Map<string, Entry<About>>()
  const table = lease.table<Entry<About>>(kind, stop)

  const refuseTooMany = (): void => {
    const going = [...known.values()].filter(isGoing).length
    if (going >= running) throw new SvcError('quota.exceeded', `at most ${running} ${many} go on at a time: end one, or wait for one`)
  }
  const forgetOldest = (): void => {
    const over = [...known].filter(([, entry]) => !isGoing(entry)).map(([opaqueId]) => opaqueId)
    for (const opaqueId of over.slice(0, Math.max(0, over.length - kept))) void close(opaqueId)
  }
  async function close(opaqueId: string): Promise<boolean> {
    known.delete(opaqueId)
    return table.close(opaqueId)
  }

  return {
    refuseTooMany,
    open(about, undertaking) {
      refuseTooMany() // I1
      const entry: Entry<About> = { about }
      const opaqueId = table.add(entry)
      known.set(opaqueId, entry)
      const ref = createActor(logicOf(undertaking), { clock, input: { what, timeoutMs: undertaking.timeoutMs } })
      entry.ref = ref
      ref.subscribe({ complete: forgetOldest, error: forgetOldest })
      ref.start()
      return openingOf(opaqueId, entry)
    },
    find: (opaqueId) => openingOf(opaqueId, table.get(opaqueId)),
    all: () => [...known].map(([opaqueId, entry]) => openingOf(opaqueId, entry)),
    async until(opaqueId, { ms, signal, changed }) {
      const { ref } = table.get(opaqueId)
      if (ms <= 0 || ref === undefined) return
      const enough = new AbortController()
      const alarm = createAlarm(clock, () => enough.abort())
      alarm.set(ms)
      void changed?.(enough.signal).then(() => enough.abort())
      try {
        await reached(ref, undefined, AbortSignal.any([signal, enough.signal]))
      } finally {
        alarm.end()
        enough.abort()
      }
    },
    close,
  }
}

/** I2 */
async function stop({ ref }: Entry<unknown>): Promise<void> {
  if (ref === undefined) return
  if (isActive(ref)) ref.send({ type: 'stop.requested' })
  await reached(ref)
}

function isGoing({ ref }: Entry<unknown>): boolean {
  return ref !== undefined && isActive(ref)
}

function openingOf<About>(opaqueId: string, entry: Entry<About>): Opening<About> {
  const context = () => entry.ref?.getSnapshot().context
  return {
    opaqueId,
    about: entry.about,
    get isOver() {
      return !isGoing(entry)
    },
    get stopped() {
      return context()?.stopped ?? null
    },
    get failure() {
      return context()?.failure?.message
    },
  }
}

function logicOf({ run, kill }: Undertaking) {
  const halting = new AbortController()
  return chartOf(openedMachine).provide({
    actors: {
      work: fromPromise<void, undefined>(() => run(halting.signal)),
      halt: fromPromise<void, undefined>(async () => halting.abort(new Error('it was told to end'))),
      kill: fromPromise<void, undefined>(async () => kill?.()),
    },
  })
}
