/** Whether a goal goes on after a run of its session, and why not (subsystems j). */
import { LIMITS } from '../../protocol/limits.js'

const { continuations, idleRuns, cost: COST } = LIMITS.goals

export interface EndedRun {
  /** `stopped` with the server, `aborted` by somebody. */
  readonly end: 'completed' | 'failed' | 'aborted' | 'stopped'
  readonly error?: string
  /** Calls that succeeded and were not made before with the same outcome. */
  readonly newCalls: number
  /** Whether a model answered at all. */
  readonly isAnswered: boolean
}

export interface SoFar {
  /** Runs the goal has begun. */
  readonly continued: number
  /** Runs in a row that did nothing new. */
  readonly idle: number
  /** What the session has cost since the goal is pursued. */
  readonly cost: number
}

export type Course =
  | { readonly type: 'continue'; readonly idle: number }
  /** Somebody else has to say that it goes on. */
  | { readonly type: 'pause'; readonly why: string }
  | { readonly type: 'block'; readonly why: string }

export function courseAfter(run: EndedRun, { continued, idle, cost }: SoFar): Course {
  if (run.end === 'aborted') return { type: 'pause', why: 'Paused: its run was aborted.' }
  if (run.end === 'failed') return { type: 'block', why: `Stopped: a run failed: ${run.error ?? 'the reason is not known'}` }
  if (run.end === 'completed' && !run.isAnswered) return { type: 'block', why: 'Stopped: the next run could not begin.' }
  const idleNow = run.newCalls > 0 ? 0 : idle + 1
  if (idleNow >= idleRuns) return { type: 'block', why: `Stopped: ${idleRuns} runs in a row made no progress: none did anything new.` }
  if (cost >= COST) return { type: 'block', why: `Stopped: its runs have cost ${cost.toFixed(2)}, and ${COST} is the most they may.` }
  if (continued >= continuations) return { type: 'block', why: `Stopped: it went on ${continuations} times, which is the most it may.` }
  return { type: 'continue', idle: idleNow }
}
