import type { RetryPolicy } from '../retry.js'
import { MINUTE, SECOND } from './units.js'

/** What could not be recorded, by a server whose disk is full or busy. */
export const SOON = { first: 1 * SECOND } as const satisfies RetryPolicy
/** What somebody else did not answer, and nobody waits for. */
export const LATER = { first: 1 * MINUTE } as const satisfies RetryPolicy
