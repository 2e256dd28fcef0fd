import { KiB, MiB, SECOND } from './units.js'

/** Limits of external agents. Sizes in bytes, times in ms. */
export const externalLimits = {
  external: {
    /** From the start of an agent until it has told what may be chosen. */
    setup: 45 * SECOND,
    /** How long an agent that has told what may be chosen is given to tell its commands. */
    commandsWait: 1 * SECOND,
    /** How long what it has told is good, and how long after a failure it is not asked again. */
    fresh: 600 * SECOND,
    rest: 60 * SECOND,
    /** Options, values of one of them, commands. */
    options: 256,
    values: 256,
    commands: 256,
    /** Characters of a name or description that is shown. */
    text: 4096,
    /** What is kept of one preview. */
    snapshotBytes: 1 * MiB,
    /** One message of an agent, and all of them while a preview lasts. */
    messageBytes: 4 * MiB,
    messages: 10_000,
    /** Messages of an agent in one turn of a session, and requests of it that are not answered yet. */
    turnMessages: 1_000_000,
    requests: 32,
    /** Messages of an agent that are taken in one turn of the event loop, and bytes of them after which no further one is. */
    pace: { inTurn: 16, bytesInTurn: 64 * KiB },
    /** Bytes of what an agent that cannot open its session again is told of it. */
    retold: 32 * KiB,
    /** Files that a call is known to be about. */
    paths: 256,
    /** Subagents of one turn that are shown in sessions of their own, how deep they stand below each other, and bytes of what one says before its session is there. */
    children: { most: 64, depth: 3, ahead: 1 * MiB },
    /** Commands of one turn that an agent has not released. */
    terminals: 32,
    /** How long an agent is listened to after it has loaded a session: until it is quiet, and at most; and after it has answered a prompt. */
    quiet: 25,
    drain: 250,
    /** How long an agent may take to end a prompt that was cancelled. */
    cancel: 5 * SECOND,
    /** Bytes of a file that an agent is given. */
    readBytes: 1 * MiB,
    inputBacklog: 1 * MiB,
    stderr: 4 * KiB,
    /** Previews at a time, and how many wait. */
    previews: { atOnce: 4, waiting: 32 },
  },
} as const
