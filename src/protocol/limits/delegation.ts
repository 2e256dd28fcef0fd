import { DAY, KiB, MINUTE, SECOND } from './units.js'

/** Limits of delegated work and of commands in the background. Sizes in characters unless their name says bytes, times in ms. */
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
  jobs: {
    /** Of one session, that have not ended. */
    perSession: 16,
    /** Of all sessions, that run at once, and that wait until they may. */
    atOnce: 32,
    waiting: 256,
    timeout: 30 * MINUTE,
    timeoutMost: 1 * DAY,
    /** Of the latest output of each stream that are kept while it runs. */
    outputBytes: 256 * KiB,
    outputBytesMost: 1024 * KiB,
    /** Of the output, as it is told and remembered; the rest is in a file. */
    told: 32_000,
    description: 500,
    /** Of a session, that have ended and are remembered. */
    remembered: 20,
    /** How soon what could not be recorded is tried again. */
    retry: 1 * SECOND,
  },
} as const
