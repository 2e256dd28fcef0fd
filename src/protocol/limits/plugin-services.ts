import { KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of what plugins have the host run, read and ask for them. Sizes in bytes, times in ms. */
export const pluginServicesLimits = {
  /** Sessions whose events a plugin was told of last, and for how long after that it may speak of them. */
  servedSessions: { remembered: 64, heard: 60 * SECOND },
  /** What a plugin has opened, when it is to end: until it is killed, and until it is given up. */
  opened: { halt: 1 * SECOND, kill: 500 },
  pluginProcesses: {
    /** Of one instance that run, and that have ended and can still be read. */
    running: 8,
    kept: 16,
    arguments: 256,
    argumentBytes: 64 * KiB,
    variables: 64,
    /** Of the latest output that is kept of each. */
    outputBytes: 1 * MiB,
    pieceBytes: 16 * KiB,
    readBytes: 256 * KiB,
    inputBytes: 128 * KiB,
    inputBacklog: 1 * MiB,
    time: 10 * MINUTE,
    timeMost: 60 * MINUTE,
    /** How long one call may wait for output or for the end. */
    wait: 60 * SECOND,
  },
  pluginTasks: {
    /** Of one instance that run, and that have ended and are remembered. */
    running: 4,
    kept: 16,
    time: 30 * MINUTE,
    timeMost: 240 * MINUTE,
    wait: 60 * SECOND,
  },
  pluginReads: {
    page: 20,
    pageMost: 50,
    /** Of one text, and of one answer: what is longer is cut, or comes with the next page. */
    textBytes: 64 * KiB,
    answerBytes: 384 * KiB,
  },
  pluginResponses: {
    /** How long the end of an answer waits for all its hooks together. */
    delay: 2 * SECOND,
    textBytes: 256 * KiB,
  },
  pluginModels: {
    /** What one package may use in a day (UTC), unless its entry says otherwise; cost in the currency of the prices of models. */
    tokensPerDay: 500_000,
    costPerDay: 1,
    running: 2,
    kept: 8,
    messages: 128,
    outputTokens: 4096,
    outputTokensMost: 32_768,
    /** Of what is answered. */
    answerBytes: 256 * KiB,
    time: 5 * MINUTE,
    wait: 60 * SECOND,
    listed: 500,
    /** Days whose use is remembered. */
    days: 32,
  },
  pluginAsks: {
    running: 4,
    kept: 16,
    patterns: 64,
    patternBytes: 4 * KiB,
    title: 500,
    time: 10 * MINUTE,
    wait: 60 * SECOND,
  },
} as const
