/** Plan mode: a state of the session; its runs are those of the agent that plans (sessions-events §2.2, §10.1). */
import { SvcError } from '../../../protocol/errors.js'
import type { Session } from '../../../protocol/session/session.js'
import { sessionOrThrow, type Rows, type Sources } from './core.js'

const PLANNER = 'plan'

/** False = nothing changed. */
export function setPlanMode(
  { store, journal, effects }: Pick<Rows, 'store' | 'journal' | 'effects'>,
  sessionId: string,
  isOn: boolean,
): boolean {
  const { mode, ...session } = sessionOrThrow({ store }, sessionId)
  if ((mode !== undefined) === isOn) return false
  const now = effects.clock.now()
  const info: Session = {
    ...session,
    ...(isOn ? { mode: { type: 'plan' as const, entered: now } } : {}),
    time: { ...session.time, updated: now },
  }
  journal.commit('process', (tx) => {
    tx.emitSession('session.updated', store.sessions.update(info))
  })
  return true
}

/** The agent of a prompt that names none; that of the session when the configuration leaves no agent to plan. */
export async function agentOf(
  { resources }: Pick<Sources, 'resources'>,
  { id, mode, agent, directory }: Session,
): Promise<string | undefined> {
  if (mode === undefined) return agent
  try {
    await resources.agent(directory, PLANNER, id)
    return PLANNER
  } catch (error) {
    if (error instanceof SvcError && error.code === 'resource.not_found') return agent
    throw error
  }
}
