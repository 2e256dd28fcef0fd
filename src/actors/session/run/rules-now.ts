/**
 * The rules a run goes by, as they are now (sessions-events §8.12): a deny that somebody gives the session, a session above it or an agent
 * while it runs holds for its next call.
 */
import type { SessionCore } from '../state/core.js'
import { ceilingsOf } from './ceilings.js'
import type { RunScope } from './run-scope.js'

/** Before each step, and before each judgement of a call. A session or an agent that is gone leaves the rules as they were. */
export async function refreshRules(core: Pick<SessionCore, 'store' | 'resources'>, run: RunScope): Promise<void> {
  const session = core.store.sessions.get(run.session.id)
  if (session === undefined || run.target.obstacle !== undefined) return
  const { agent } = run.target
  const [ceilings, known] = await Promise.all([
    ceilingsOf(core, session),
    core.resources.agent(session.directory, agent.record.name).catch(() => agent),
  ])
  run.permission = session.permission ?? []
  run.ceilings = ceilings
  if (known !== run.target.agent && known.record.name === run.target.agent.record.name) run.target = { ...run.target, agent: known }
}
