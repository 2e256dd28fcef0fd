import { KiB, MiB, SECOND } from './units.js'

/** Limits of terminals, and of editors. Sizes in bytes, times in ms. */
export const terminalsLimits = {
  acp: {
    /** Conversations that one editor has open at a time. */
    sessions: 64,
  },
  terminals: {
    /** Terminals at a time. */
    count: 64,
    /** Output kept of each, for replay; evicted from the front in blocks. */
    historyBytes: 2 * MiB,
    blockBytes: 64 * KiB,
    /** Connections to one terminal at a time. */
    clients: 16,
    /** How far the foremost client may be behind before the program has to wait, and before it goes on. */
    lagBytes: 1 * MiB,
    lagResume: 256 * KiB,
    /** Input that a program has not read: beyond it a client is read no further, and beyond the bound it is cut off. */
    inputBytes: 64 * KiB,
    inputBacklog: 8 * MiB,
    /** How long input waits that the system does not take now. */
    inputRetry: { first: 2, factor: 2, most: 50 },
    ticketAge: 30 * SECOND,
    /** Bytes of randomness in a ticket, and tickets that may wait to be used. */
    ticketBytes: 24,
    tickets: 1024,
    titleLength: 256,
    commandParts: 256,
    argumentLength: 16_384,
    sizeMost: 10_000,
    cols: 80,
    rows: 24,
    /** How long the end of a terminal may take; its processes are killed well before. */
    end: 5 * SECOND,
  },
} as const
