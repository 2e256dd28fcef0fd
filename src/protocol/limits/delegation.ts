import { SOON } from './retries.js'
import { DAY, KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of delegated work, goals, notes and commands in the background. Sizes in characters unless their name says bytes, times in ms. */
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
    retry: SOON,
  },
  memory: {
    /** Notes on one project, and bytes of each. */
    notes: 200,
    noteBytes: 16_384,
    name: 100,
    description: 300,
    /** Characters of the overview that every conversation is shown. */
    overview: 8000,
    recalled: 5,
    found: 100,
  },
  goals: {
    text: 8000,
    summary: 4000,
    /** Notes of one goal, and what is kept of each page; of all notes together so much is told to the model. */
    notes: 8,
    note: 8000,
    toldNotes: 24_000,
    research: 45 * SECOND,
    /** Of an answer of the service that reads pages, in bytes. */
    researchBytes: 4 * MiB,
    /** Runs that a goal begins by itself, and of these in a row that do nothing new. */
    continuations: 25,
    idleRuns: 3,
    /** What its runs may cost, in the currency of the prices of models. */
    cost: 10,
    /** Calls that are remembered, to know new ones from repeated ones. */
    knownCalls: 256,
    /** Goals that are pursued at a time. */
    pursued: 1000,
    retry: SOON,
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
    /** How long what a command has printed is only in memory: a server that is killed loses so much of it. */
    kept: 2 * SECOND,
    /** Of the output, as it is told and remembered; the rest is in a file. */
    told: 32_000,
    description: 500,
    /** Of a session, that have ended and are remembered. */
    remembered: 20,
    /** How soon what could not be recorded is tried again. */
    retry: SOON,
  },
} as const
