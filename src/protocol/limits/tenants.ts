import { KiB, MiB, SECOND } from './units.js'

/** Limits of credentials besides the token of the operator. Sizes in bytes (texts: characters), times in ms. */
export const tenantsLimits = {
  tenants: {
    fileBytes: 64 * MiB,
    most: 100_000,
    token: 4 * KiB,
    /** Of a token file that are read in one turn, and directories that are resolved in one. */
    partCharacters: 16 * KiB,
    pathsInTurn: 100,
    /** Directories of one credential: each is a term of the query that lists sessions. */
    prefixes: 256,
    prefix: 4 * KiB,
    /** Between two looks at the token file; while it cannot be used, with as many times the pause. */
    look: 1 * SECOND,
    pauseOfBad: 4,
    /** Between two looks at whether those who are connected may still be. */
    recheck: 1 * SECOND,
  },
  quotas: {
    window: 60 * SECOND,
    /** Tenants whose requests are counted. */
    tenants: 4096,
    /** Without a request for so long, a tenant is forgotten. */
    idle: 300 * SECOND,
  },
  signed: {
    /** Characters of a whole credential. */
    credential: 8 * KiB,
    keyBytes: 4 * KiB,
    subject: 256,
    lifetime: 120 * SECOND,
    /** How far the clock of the daemon may be ahead of ours. */
    ahead: 5 * SECOND,
    /** Credentials whose signature was found to be right. */
    remembered: 4096,
  },
} as const
