import { SECOND } from './units.js'

/** Limits of delegated work. Sizes in characters, times in ms. */
export const delegationLimits = {
  subagents: {
    /** Levels of tasks below a session that nobody delegated to. */
    depth: 3,
    /** Tasks of one session that have not ended, and of a whole family. */
    tasks: 128,
    familyTasks: 256,
    /** What a task answers, as it is told. */
    result: 32_000,
    /** Of all that is told at once. */
    told: 128_000,
    description: 500,
    prompt: 200_000,
    listed: 200,
    /** How soon what could not be recorded is tried again. */
    retry: 1 * SECOND,
  },
} as const
