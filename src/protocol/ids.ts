/**
 * Identifiers (sessions-events §1): `<prefix>_` + 12 hex digits of time and counter + 14 random base62
 * characters. Session ids descend (newest sorts first), every other kind ascends. Nobody parses an id;
 * readers check the prefix only.
 */
type IdPrefix = 'ses' | 'msg' | 'prt' | 'evt' | 'per' | 'que' | 'aud' | 'art' | 'tool' | 'wrk' | 'ent' | 'pty' | 'job' | 'conn'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Ids of one millisecond before its successor is borrowed: the counter has 12 bits. */
const COUNTERS = 4096
const HALF = 2 ** 24

/** What id making needs of the world: wall clock in milliseconds and random bytes. */
export interface IdSource {
  now(): number
  randomBytes(size: number): Uint8Array
}

export interface Ids {
  /** The next id of a kind; ids of one kind made by one process sort by creation. */
  next(prefix: IdPrefix): string
}

/** Makes the process-wide id generator; `source` is the only clock and randomness it reads. */
export function createIds(source: IdSource): Ids {
  let lastMs = -1
  let counter = 0
  return {
    next(prefix) {
      const ms = source.now()
      if (ms > lastMs) {
        lastMs = ms
        counter = 1
      } else if (++counter === COUNTERS) {
        lastMs += 1
        counter = 0
      }
      return `${prefix}_${timePart(lastMs, counter, prefix === 'ses')}${base62(source.randomBytes(14))}`
    },
  }
}

/** 48 bits of time and counter as two halves of 24: exact in plain numbers, no BigInt. */
function timePart(ms: number, counter: number, descending: boolean): string {
  const high = Math.floor(ms / COUNTERS) % HALF
  const low = (ms % COUNTERS) * COUNTERS + counter
  return descending ? hex24(HALF - 1 - high) + hex24(HALF - 1 - low) : hex24(high) + hex24(low)
}

function hex24(value: number): string {
  return (HALF + value).toString(16).slice(1)
}

function base62(bytes: Uint8Array): string {
  const codes: number[] = []
  for (const byte of bytes) codes.push(ALPHABET.charCodeAt(byte % 62))
  return String.fromCharCode(...codes)
}
