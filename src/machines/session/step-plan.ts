/** What the run machine says of a step before it, and hears of it afterwards. */
/** How a step ended, for what comes after it. */
export interface StepEnd {
  /** Another step follows; otherwise the run is recorded as finished. */
  readonly follows: boolean
  /** Its answer was cut, and nobody said anything since. */
  readonly wasCut: boolean
  /** It followed up neither a tool call nor a steering prompt. */
  readonly isContinuation: boolean
  /** The steering prompt that joined after it, the last of several: what comes next answers it. */
  readonly answers?: string
}

/** What a step is prepared by. */
export interface StepPlan {
  /** From 1. */
  readonly step: number
  /** The steering prompt it answers; undefined = the prompt of the run. */
  readonly answers: string | undefined
  readonly wasCut: boolean
  readonly mayCompact: boolean
}

/** As the run machine plans the first step of a run. */
export const FIRST_STEP: StepPlan = { step: 1, answers: undefined, wasCut: false, mayCompact: true }

export interface Prepared {
  /** Of the request; 0 = the step asks no model. */
  readonly tokens: number
  /** Nothing is open, because the conversation is to be compacted first. */
  readonly isDue: boolean
}

/** The conversation is to be compacted before anything else; it has so many tokens. */
export interface Due {
  readonly tokens: number
}

export function isDue(end: StepEnd | Due): end is Due {
  return 'tokens' in end
}
