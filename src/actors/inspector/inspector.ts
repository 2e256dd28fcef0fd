/**
 * The inspector: what lives in this service and what happens to it (architecture §8).
 *
 * I1 Opened by the first viewer, closed with the last; closed, no actor is observed and nothing is kept.
 * I2 What viewers read comes from one bounded ring; no viewer and no number of events makes it grow.
 */
import { SvcError } from '../../protocol/errors.js'
import {
  type InspectedActor,
  type InspectedMachine,
  type InspectedPlugin,
  TRACE_FORMAT,
  TRACE_VERSION,
} from '../../protocol/system/inspector.js'
import { LIMITS } from '../../protocol/limits.js'
import type { ActorDirectory } from '../runtime/actor-directory.js'
import type { Effects } from '../effects.js'
import type { Inspector } from '../facades.js'
import { describeActor, family, logicOf } from './actors.js'
import { createCharts } from './charts.js'
import { layoutOf } from './layouts.js'
import { type ActorObserver, observeActors } from './observer.js'
import { createRing } from './ring.js'
import { createViewers } from './viewers.js'

export interface InspectorDeps {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly directory: ActorDirectory
  readonly version: string
  /** Tell payloads, not only their shapes: the operator asked for it at start. */
  readonly payloads: boolean
  plugins(): InspectedPlugin[]
}

export function createInspector({
  effects,
  directory,
  version,
  payloads,
  plugins,
}: InspectorDeps): Inspector & { readonly viewers: number } {
  const { clock, log } = effects
  const charts = createCharts()
  const ring = createRing(LIMITS.inspector)
  const viewers = createViewers({ ring, clock })
  let observer: ActorObserver | undefined

  function actors(): InspectedActor[] {
    return [...directory.roots()].flatMap((root) =>
      [...family(root.ref)].map((ref) => describeActor(ref, ref === root.ref ? root : undefined, observer?.seen(ref))),
    )
  }

  const machines = (): InspectedMachine[] =>
    charts.all([...directory.roots()].flatMap(({ ref }) => [...family(ref)].map(logicOf))).map((machine) => {
      const layout = layoutOf(machine.id)
      return { ...machine, ...(layout && { layout }) }
    })

  function open(): void {
    observer ??= observeActors({
      directory,
      clock,
      ring,
      payloads,
      onRecord: () => viewers.wake(),
      onFault: (error) => log.debug('the inspector could not read an event', { cause: String(error) }),
    })
  }

  function left(): void {
    if (viewers.size > 0) return
    observer?.stop()
    observer = undefined
    ring.clear()
  }

  return {
    tree: () => ({ at: clock.now(), sequence: ring.sequence, actors: actors(), plugins: plugins() }),
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
  }
}
