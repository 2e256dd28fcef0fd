/**
 * Compactions by the id of the run they happen in: those of runs, and those somebody asked for (sessions-events §6.6).
 *
 * I1 A compaction somebody asked for owns the run of its session from its request on: who asks meanwhile is refused, and prompts wait.
 */
import type { Passing } from '../../../kernel/passing.js'
import { compactionOverrides } from '../../../machines/session/compaction/window.js'
import { type Failure, SvcError } from '../../../protocol/errors.js'
import { resolveTarget } from '../admission/target.js'
import { rootOf, sessionOrThrow, type Rows, type Work, type Sources } from '../state/core.js'
import { type CompactingRun, type CompactionScope, recordCompactionEnd, type Sight } from './compaction-effects.js'
import { compactionPolicy } from './compaction-policy.js'
import type { OpenCompaction } from './open-compaction.js'

export interface Compactions {
  /** Begins one; answers the id of its run. Throws `resource.conflict` while the session is at work. */
  request(sessionId: string): string
  /** The one a session has to begin with. */
  waiting(sessionId: string): string | undefined
  scopeOf(runId: string): CompactionScope
  /** The latest that was opened in a run; it may have ended. */
  latest(run: CompactingRun): OpenCompaction | undefined
  /** Records the end of one that somebody asked for, which is not recorded yet; as aborted when there is no failure. */
  recordEnd(runId: string, failure: Failure | undefined): void
  forget(sessionId: string): void
}

/** Throws what kept a compaction from its end. */
export function compactionEnd(core: Pick<Rows, 'store'>, sessionId: string, runId: string): void {
  const { status, error } = core.store.runs.end({ id: runId, sessionId }) ?? {}
  if (status === 'completed') return
  if (status === 'interrupted') throw new SvcError('resource.conflict', 'The compaction was aborted; nothing has changed.', { sessionId })
  throw new SvcError('provider.failed', error ?? 'The compaction did not come to its end.', { sessionId })
}

function sightOf({ place: { world } }: CompactingRun): Sight {
  if (world === undefined) throw new Error('no step was prepared')
  return world
}

async function lookAround(core: Rows & Sources, sessionId: string): Promise<Sight> {
  const { directory } = sessionOrThrow(core, sessionId)
  const target = await resolveTarget(core, sessionId, {})
  const [configuration, project] = await Promise.all([core.configs.load(directory), core.projects.identify(directory)])
  return { target, project, policy: compactionPolicy(core, configuration, target) }
}

export function createCompactions(core: Rows & Work & Sources, runs: Pick<Passing<string, CompactingRun>, 'get'>): Compactions {
  /** Asked for, by session. */
  const asked = new Map<string, CompactionScope>()
  /** Of runs, by the id of the run: the latest. */
  const within = new WeakMap<CompactingRun, CompactionScope>()

  const askedAs = (runId: string) => [...asked.values()].find(({ slot }) => slot.runId === runId)

  function scopeOf(runId: string): CompactionScope {
    const own = askedAs(runId)
    if (own !== undefined) return own
    const run = runs.get(runId)
    if (run === undefined) throw new Error(`no compaction belongs to the run ${runId}`)
    const before = within.get(run)
    if (before !== undefined && before.open?.recorder.closed !== true) return before
    const { rootId, session } = run
    const scope: CompactionScope = {
      slot: { sessionId: session.id, rootId, runId, segment: undefined },
      markId: core.effects.ids.next('msg'),
      run,
      sight: async () => sightOf(run),
      open: undefined,
    }
    within.set(run, scope)
    return scope
  }

  return {
    request(sessionId) {
      const session = sessionOrThrow(core, sessionId)
      if (!compactionOverrides(core.effects.env).any)
        throw new SvcError('request.unprocessable', 'Compaction is switched off on this server: SVC_AGENT_MODEL_COMPACTION is set to off.')
      if (!core.statuses.isIdle(sessionId) || core.store.queue.count(sessionId) > 0)
        throw new SvcError('resource.conflict', 'The session is at work; compact it when it is idle, or abort it first.', { sessionId })
      if (session['revert'] !== undefined || core.restores.isActive(sessionId))
        throw new SvcError('resource.conflict', 'Some messages are undone; bring them back, or go on with a prompt, before you compact.', {
          sessionId,
        })
      const runId = core.effects.ids.next('evt')
      const rootId = rootOf(core, sessionId)
      const startedAt = core.effects.clock.now()
      const scope: CompactionScope = {
        slot: { sessionId, rootId, runId, segment: undefined },
        markId: core.effects.ids.next('msg'),
        run: undefined,
        sight: () => lookAround(core, sessionId),
        open: undefined,
      }
      core.journal.commit('process', (tx) => {
        core.store.runs.begin({ id: runId, sessionId, startedAt, unattended: false })
        core.statuses.set(tx, session, { type: 'busy' }, 0, { runId, startedAt })
        core.executions.admit(tx, rootId, scope.markId, core.executions.next(tx, rootId))
        tx.after(() => asked.set(sessionId, scope))
      })
      return runId
    },
    waiting(sessionId) {
      const scope = asked.get(sessionId)
      return scope === undefined || core.statuses.run(sessionId)?.runId !== scope.slot.runId ? undefined : scope.slot.runId
    },
    scopeOf,
    latest: (run) => within.get(run)?.open,
    recordEnd(runId, failure) {
      const scope = askedAs(runId)
      if (scope !== undefined && core.statuses.run(scope.slot.sessionId)?.runId === runId) recordCompactionEnd(core, scope, failure)
    },
    forget: (sessionId) => void asked.delete(sessionId),
  }
}
