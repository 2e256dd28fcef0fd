/**
 * Builds a running service from its effects, its store and its built-in plugins, and drives it with the
 * runtime machine. The only place that knows how the parts fit together.
 */
import { chartOf } from '../../kernel/machine/chart.js'
import { messageOf } from '../../protocol/message-of.js'
import { forgetStandIns } from '../../platform/git/program/stand-in.js'
import { waitAtMost } from '../../kernel/patience.js'
import { createActor, fromPromise, type InspectionEvent } from 'xstate'
import { runtimeMachine } from '../../machines/runtime/runtime.machine.js'
import { SvcError } from '../../protocol/errors.js'
import type { Store } from '../../store/store.js'
import type { ActorDirectory } from '../../kernel/roots.js'
import type { Effects } from '../../ports/effects.js'
import type { Runtime } from '../../ports/facades.js'
import { startMaintenance, type Maintenance } from './maintenance.js'
import type { EventFeed } from '../plugin/calls/event-feed.js'
import type { NativePlugin } from '../../ports/plugin.js'
import type { PluginPrograms } from '../plugin/start-plans.js'
import type { Deployment } from './deployment.js'
import { recover } from './recovery.js'
import { assemble } from './assembly.js'

/** What is opened last and closed first. */
export interface Listener {
  /** Accepts nothing new and ends every stream; resolves when answers under way are sent. */
  close(): Promise<void>
}

export interface RuntimeOptions {
  readonly effects: Effects
  readonly store: Store
  readonly plugins: readonly NativePlugin[]
  readonly version: string
  /** Absolute paths of the programs that plugins are run with. */
  readonly programs: PluginPrograms
  /** Address of this server, once it listens. */
  readonly serverUrl?: () => string | undefined
  /** Opens the door once everything behind it can answer. */
  readonly listen?: (runtime: Runtime) => Promise<Listener>
  /** Sees every actor event, for debugging and tests. */
  readonly inspect?: (event: InspectionEvent) => void
  /** The inspector tells payloads too, prompts and all; off unless the operator switched it on. */
  readonly inspectPayloads?: boolean
  /** How tenants are told apart, as health says it; without it there is one. */
  readonly tenantResolver?: () => string
  /** What this server is for; absent = for whoever started it. */
  readonly deployment?: Deployment
}

export interface RunningRuntime {
  readonly runtime: Runtime
  /** Stops in order within the deadline; resolves when the service has ended. */
  stop(): Promise<{ readonly exitCode: 0 | 1 }>
  /** Stops at once. */
  kill(): void
  /** Resolves when every session is idle; rejects when `signal` ends the wait. */
  quiet(signal: AbortSignal): Promise<void>
  readonly ended: Promise<{ readonly exitCode: 0 | 1 }>
  /** Every root actor that lives, for tests that drive them. */
  readonly actors: ActorDirectory
  /** Numbers a test or an operator may look at. */
  counters(): Readonly<Record<string, number>>
}

/** Starts the service; rejects when a start step fails, after everything opened was closed again. */
export async function createRuntime(options: RuntimeOptions): Promise<RunningRuntime> {
  const { effects, store } = options
  const parts = await assemble(options)
  let maintenance: Maintenance | undefined
  let stopTidying: (() => void) | undefined
  let listener: Listener | undefined
  let feed: EventFeed | undefined
  let startError: unknown
  let queued: string[] = []

  const keep = <T>(work: () => Promise<T>) =>
    fromPromise<void, void>(async () => {
      try {
        await work()
      } catch (error) {
        startError ??= error
        throw error
      }
    })

  const logic = chartOf(runtimeMachine).provide({
    actors: {
      recover: keep(async () => {
        queued = recover(parts.core)
        await forgetStandIns(effects)
        await parts.core.restores.recover()
        await parts.management.recover()
      }),
      startPlugins: keep(async () => {
        await parts.plugins.startBuiltIns(options.plugins, parts.host)
        feed = parts.feed()
      }),
      startSessions: keep(async () => {
        for (const sessionId of queued) parts.sessions.supervisor.wake(sessionId)
        maintenance = startMaintenance({ store, effects, sweep: parts.sweep, bounds: parts.bounds })
        stopTidying = parts.tidy()
      }),
      listen: keep(async () => {
        await parts.warnOfHosting()
        await parts.beginCounting()
        listener = await options.listen?.(parts.runtime)
      }),
      refuse: fromPromise<void, void>(async () => {
        parts.announceStop()
        await listener?.close()
      }),
      drainSessions: fromPromise<void, void>(() => parts.sessions.supervisor.drain()),
      drainPlugins: fromPromise<void, void>(async () => {
        parts.sessions.supervisor.stop()
        feed?.stop()
        await parts.plugins.drain()
        await Promise.all([effects.processes.killAll(), effects.terminals.killAll()])
      }),
      closeStore: fromPromise<void, void>(async () => {
        maintenance?.stop()
        stopTidying?.()
        await parts.endObservation()
        try {
          store.close()
        } catch (error) {
          effects.log.error('the store could not be closed in order; what was answered with success is on disk', {
            cause: messageOf(error),
          })
          throw error
        }
      }),
      abandon: fromPromise<void, void>(async () => {
        parts.announceStop()
        maintenance?.stop()
        stopTidying?.()
        parts.sessions.supervisor.stop()
        feed?.stop()
        parts.plugins.stop()
        const gone = Promise.all([effects.processes.killAll(), effects.terminals.killAll()])
        await waitAtMost(effects.clock, Promise.all([listener?.close(), gone]), 100)
        void parts.endObservation()
        store.close()
      }),
    },
  })

  const actor = createActor(logic, {
    id: 'runtime',
    clock: effects.clock,
    ...(options.inspect === undefined ? {} : { inspect: options.inspect }),
  })
  parts.actors.add(actor, 'runtime')
  const ended = new Promise<{ exitCode: 0 | 1 }>((resolve) => {
    actor.subscribe({
      complete: () => resolve({ exitCode: actor.getSnapshot().output?.exitCode ?? 1 }),
      error: (error) => {
        effects.log.error('the runtime actor failed', { cause: String(error) })
        resolve({ exitCode: 1 })
      },
    })
  })
  const started = new Promise<void>((resolve) => {
    const subscription = actor.subscribe((snapshot) => {
      if (!snapshot.hasTag('accepting') && snapshot.status === 'active') return
      subscription.unsubscribe()
      resolve()
    })
  })
  actor.start()
  await Promise.race([started, ended])
  if (!actor.getSnapshot().hasTag('accepting')) {
    await ended
    throw startError instanceof Error ? startError : new SvcError('server.internal', 'The service was stopped while it started.')
  }
  return {
    runtime: parts.runtime,
    ended,
    stop() {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'stop.requested' })
      return ended
    },
    kill: () => actor.send({ type: 'kill.requested' }),
    quiet: parts.quiet,
    actors: parts.actors,
    counters: parts.counters,
  }
}
