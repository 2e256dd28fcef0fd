import type { RetryPolicy } from '../retry.js'
import { DAY, KiB, SECOND } from './units.js'

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
  /** Credentials for models that a host lends to a worker. */
  modelBroker: {
    /** Of the bearer that the host is asked with, and of what it answers. */
    bearerBytes: 4 * KiB,
    answerBytes: 64 * KiB,
    /** For one answer. */
    patience: 10 * SECOND,
    /** Before its end a credential is renewed: so long, or such a share of its life where that is shorter. */
    margin: 60 * SECOND,
    marginShare: 0.25,
    /** What lives shorter is none; what lives longer is asked for anew before. */
    shortest: 5 * SECOND,
    longest: 1 * DAY,
    /** While the host does not answer; all tries together take longer than the margin. */
    pauses: { first: 1 * SECOND, factor: 2, most: 60 * SECOND, tries: 7 } satisfies RetryPolicy,
    /** Before a host that has refused is asked again. */
    refusalPause: 30 * SECOND,
  },
} as const
