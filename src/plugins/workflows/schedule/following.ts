/**
 * Bringing activations in line with files and settings whenever they changed.
 *
 * I1 Nothing here rejects: what fails is told to the machine, and made good at a later beat.
 */
import type { WorkflowEngineEvent } from '../../../machines/workflows/workflow-engine.machine.js'
import type { Effects } from '../../../ports/effects.js'
import type { Context } from '../files/places.js'
import type { Settings } from '../settings.js'
import type { Reconciler } from './reconcile.js'

export interface Following {
  /** Some workflows of a context may have changed. */
  follow(context: Context, ids: ReadonlySet<string>): Promise<void>
  /** Reads the settings again; brings everything in line when they changed, or when something was missed. */
  followSettings(): Promise<void>
  all(): Promise<void>
  recheck(): Promise<void>
}

export interface FollowingDeps {
  readonly effects: Pick<Effects, 'log'>
  readonly settings: Settings
  readonly reconciler: Reconciler
  isServing(): boolean
  isBehind(): boolean
  tell(event: WorkflowEngineEvent): void
}

export function createFollowing({ effects, settings, reconciler, isServing, isBehind, tell }: FollowingDeps): Following {
  async function reconciled(reconcile: () => Promise<void>): Promise<void> {
    try {
      await reconcile()
      tell({ type: 'files.followed', waiting: reconciler.waiting })
    } catch (error) {
      effects.log.error('workflows could not follow their files and will be told of them again', { cause: String(error) })
      tell({ type: 'files.missed' })
    }
  }

  const all = () => reconciled(() => reconciler.reconcileAll())

  return {
    async follow(context, ids) {
      if (!isServing()) return
      if (await settings.refresh()) await all()
      else await reconciled(() => reconciler.reconcile(context, ids))
    },
    async followSettings() {
      if (!isServing()) return
      const isChanged = await settings.refresh()
      if (!isServing() || !(isChanged || isBehind())) return
      tell({ type: 'catch-up.begun' })
      await all()
    },
    all,
    recheck: () => reconciled(() => reconciler.recheck()),
  }
}
