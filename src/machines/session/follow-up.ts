/** Whether a run goes on after a finished step (sessions-events §4.10 follow-up rules, §4.13, §4.14). */
import { LIMITS } from '../../protocol/limits.js'

export interface StepFacts {
  /** Finish reason of the provider. */
  readonly finish: string
  readonly toolCalls: number
  /** Steering prompts joined after this step. */
  readonly hasSteered: boolean
  /** Number of this step in the run, from 1. */
  readonly step: number
  /** Step limit of the agent; undefined = none. */
  readonly limit: number | undefined
  /** Steps in a row before this one that were followed up though they called no tool. */
  readonly continued: number
}

const CUT = new Set(['length', 'max_tokens', 'incomplete'])

export function wasCut(finish: string): boolean {
  return CUT.has(finish)
}

/** True when another step follows in the same run; a model that only ever announces more is followed a bounded number of times. */
export function hasFollowUp(facts: StepFacts): boolean {
  if (facts.hasSteered) return true
  if (facts.limit !== undefined && facts.step >= facts.limit) return false
  if (facts.toolCalls > 0) return true
  return facts.continued < LIMITS.run.continuations && (facts.finish === 'tool-calls' || wasCut(facts.finish))
}
