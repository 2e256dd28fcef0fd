/**
 * The inspector: what lives in this service and what happens to it (laws §8).
 *
 * I1 Opened by the first viewer, closed `linger` after the last has left; closed, no actor is observed and nothing is kept.
 *    The end of the service closes it at once.
 * I2 What viewers read comes from one bounded ring; no viewer and no number of events makes it grow.
 */
import { createAlarm } from '../../kernel/alarm.js'
import { SvcError } from '../../protocol/errors.js'
import {
  type InspectedActor,
  type InspectedLines,
  type InspectedMachine,
  type InspectedPlugin,
  TRACE_FORMAT,
  TRACE_VERSION,
} from '../../protocol/system/inspector.js'
import { LIMITS } from '../../protocol/limits.js'
import type { ActorDirectory } from '../../kernel/roots.js'
import type { Effects } from '../../ports/effects.js'
import type { Inspector } from '../../ports/facades.js'
import { describeActor, family, logicOf } from './actors.js'
import { createCharts } from './charts.js'
import { layoutOf } from './layouts.js'
import { type ActorObserver, type ObserverDeps, observeActors } from './observer.js'
import { createRing } from './ring.js'
import { createViewers } from './viewers.js'

export interface InspectorDeps {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly directory: ActorDirectory
  readonly version: string
  /** Tell payloads, not only their shapes: the operator asked for it at start. */
  readonly payloads: boolean
  plugins(): InspectedPlugin[]
  lines(key: string): InspectedLines
  /** Directory of the configuration of the installation. */
  readonly configuration: string
  /** Names of tool calls, and what came of them. */
  readonly callOf?: ObserverDeps['callOf']
  readonly stateOf?: ObserverDeps['stateOf']
}

export interface InspectorOfServer extends Inspector {
  readonly viewers: number
  /** Keeps nothing more, and nobody alive. */
  end(): void
}

export function createInspector({
  effects,
  directory,
  version,
  payloads,
  plugins,
  lines,
  configuration,
  callOf,
  stateOf,
}: InspectorDeps): InspectorOfServer {
  const { clock, log } = effects
  const charts = createCharts()
  const ring = createRing(LIMITS.inspector)
  const viewers = createViewers({ ring, clock })
  let observer: ActorObserver | undefined
  /** Runs while it is open and nobody looks. */
  const closing = createAlarm(clock, close)

  function actors(): InspectedActor[] {
    return [...directory.roots()].flatMap((root) =>
      [...family(root.ref)].map((ref) => describeActor(ref, ref === root.ref ? root : undefined, observer?.seen(ref), callOf)),
    )
  }

  const machines = (): InspectedMachine[] =>
    charts.all([...directory.roots()].flatMap(({ ref }) => [...family(ref)].map(logicOf))).map((machine) => {
      const [layout, overview] = [layoutOf(machine.id), layoutOf(`${machine.id}/overview`)]
      return { ...machine, ...(layout && { layout }), ...(overview && { overview }) }
    })

  function open(): void {
    closing.clear()
    observer ??= observeActors({
      directory,
      clock,
      ring,
      payloads,
      callOf,
      stateOf,
      onRecord: () => viewers.wake(),
      onFault: (error) => log.debug('the inspector could not read an event', { cause: String(error) }),
    })
  }

  function left(): void {
    if (viewers.size === 0) closing.set(LIMITS.inspector.linger)
  }

  function close(): void {
    observer?.stop()
    observer = undefined
    ring.clear()
  }

  return {
    tree: () => ({ at: clock.now(), sequence: ring.sequence, actors: actors(), plugins: plugins(), configuration }),
    lines,
    machines,
    trace: () => ({
      format: TRACE_FORMAT,
      version: TRACE_VERSION,
      createdAt: clock.now(),
      serverVersion: version,
      machines: machines(),
      actors: actors(),
      plugins: plugins(),
      records: [...ring.after(ring.sequence - ring.size, LIMITS.inspector.records).records],
      dropped: ring.dropped,
    }),
    subscribe(since, sink) {
      if (viewers.size >= LIMITS.inspector.viewers) {
        throw new SvcError('quota.exceeded', `At most ${LIMITS.inspector.viewers} viewers can inspect at a time.`)
      }
      open()
      return viewers.add(sink, since, left)
    },
    get viewers() {
      return viewers.size
    },
    end() {
      closing.end()
      close()
    },
  }
}
