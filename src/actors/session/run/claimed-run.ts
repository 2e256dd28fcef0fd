/** What a run is from its claim to its end: whose prompt it answers, and under whose rules. Nothing of it changes. */
import { evaluateLayers, type PermissionLayers } from '../../../machines/permission/permission.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import type { AgentView } from '../../../ports/facades.js'
import type { InRun } from '../../../ports/programs.js'
import type { RunTarget } from '../admission/target.js'
import { layersFor } from './ceilings.js'

/** Who answers. */
export interface Answering {
  readonly target: RunTarget
  /** Whether the session planned when `target` was settled. */
  readonly isPlanning: boolean
}

export interface ClaimedRun {
  readonly session: Session
  readonly rootId: string
  readonly runId: string
  readonly startedAt: number
  readonly prompt: QueuedPrompt
  /** As it was when the prompt was claimed; that of a step is in its world. */
  readonly answering: Answering
  /** Rules of the sessions that delegated to this one. */
  readonly ceilings: readonly PermissionLayers[]
}

/** Rules of the run: agent, session, prompt `tools` (choice 6); later ones win (sessions-events §8.4). */
export function layersOf(
  run: Pick<ClaimedRun, 'session' | 'prompt'>,
  agent: AgentView,
  ceilings: readonly PermissionLayers[],
): PermissionLayers {
  const { session, prompt } = run
  if (hasOwnRules(session) || prompt.tools !== undefined || ceilings.length > 0) return joinedLayers(run, agent, ceilings)
  const known = ofAgent.get(agent) ?? joinedLayers(run, agent, ceilings)
  ofAgent.set(agent, known)
  return known
}

/** Of runs that no rule but those of their agent holds for: what is found by them is found once. */
const ofAgent = new WeakMap<AgentView, PermissionLayers>()

function hasOwnRules({ permission, workflowRunID, executionPolicy }: Session): boolean {
  return permission !== undefined || workflowRunID !== undefined || executionPolicy !== undefined
}

function joinedLayers(
  run: Pick<ClaimedRun, 'session' | 'prompt'>,
  agent: AgentView,
  ceilings: readonly PermissionLayers[],
): PermissionLayers {
  const own = layersFor(run.session, agent, refusedTools(run))
  return { ...own, ceilings: [...(own.ceilings ?? []), ...ceilings] }
}

/** What rules say of targets; answers that were given besides do not count. */
export function rulesOf(layers: PermissionLayers): InRun {
  return { decisions: (permission, patterns) => patterns.map((pattern) => evaluateLayers(layers, permission, pattern)) }
}

/** Tools the prompt of the run leaves out. */
export function refusedTools({ prompt }: Pick<ClaimedRun, 'prompt'>): readonly string[] {
  return Object.entries(prompt.tools ?? {}).flatMap(([tool, isOffered]) => (isOffered ? [] : [tool]))
}
