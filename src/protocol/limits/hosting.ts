import { KiB, SECOND } from './units.js'

/** Limits of a server that works for one workspace of another's. Sizes in bytes (texts: characters), times in ms. */
export const hostingLimits = {
  worker: {
    bootstrapBytes: 16 * KiB,
    /** Of the key that tokens are verified with: exactly so many. */
    keyBytes: 32,
    /** Characters of a whole token. */
    token: 8 * KiB,
    lifetime: 300 * SECOND,
    /** How far the clock of the controller may be ahead of ours. */
    ahead: 5 * SECOND,
    /** Tokens whose signature was found to be right. */
    remembered: 4096,
    /** How long a worker that ends waits for runs that are under way, at most. */
    drain: 15 * SECOND,
    /** Between two looks at the clock of this machine: it may have slept. */
    look: 30 * SECOND,
  },
} as const
