import { LATER } from './retries.js'
import { KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of connections to models. Sizes in bytes, times in ms. */
export const providersLimits = {
  provider: {
    connect: 10 * SECOND,
    firstByte: 300 * SECOND,
    idle: 120 * SECOND,
    trailer: 2 * SECOND,
    eventBytes: 1 * MiB,
    stepBytes: 32 * MiB,
    /** Tokens that one step can be believed to take. */
    stepTokens: 1_000_000_000,
    errorBytes: 64 * KiB,
    discover: 3 * SECOND,
    discoverBytes: 1 * MiB,
    discoverModels: 512,
    discoverCache: 60 * SECOND,
    /** An endpoint that failed is asked again. */
    discoverRetry: { first: 5 * SECOND },
  },
  catalog: {
    /** How long an answer of the source is taken as it is. */
    window: 5 * MINUTE,
    /** After a failure the source is asked again. */
    retry: LATER,
    request: 10 * SECOND,
    /** A listing waits so long for the first answer; a run does not wait. */
    patience: 3 * SECOND,
    bytes: 16 * MiB,
    providers: 512,
    models: 8_000,
  },
} as const
