/** Schema pieces that several nouns share: counters, times, parameters (http-contract §0). */
import * as z from 'zod'
import { pathText } from './text/path-text.js'

export const uint = z.number().int().min(0)
/** Unix milliseconds. */
export const ms = z.number().int()
export const anyRecord = z.record(z.string(), z.unknown())

/** A client-chosen message id: the `msg_` prefix and at most 128 characters (sessions-events §1.5). */
export const ClientMessageId = z
  .string()
  .max(128)
  .regex(/^msg_[\w.:-]+$/, 'must start with "msg_" and use letters, digits, "_", "-", "." or ":"')

const wholeNumber = (text: unknown) => (typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : text)
const integer = (min: number, max: number) =>
  z.number('must be a whole number').int('must be a whole number').min(min, `must be at least ${min}`).max(max, `must be at most ${max}`)
const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['', true],
  ['false', false],
  ['0', false],
])

/** Query text of a whole number, e.g. `limit`; out of range is an error. */
export const queryInt = (min: number, max: number) => z.preprocess(wholeNumber, integer(min, max))
/** Query text of a whole number; out of range is brought into the range. */
export const queryClampedInt = (min: number, max: number) =>
  z.preprocess((text) => {
    const value = wholeNumber(text)
    return typeof value === 'number' ? Math.min(max, Math.max(min, value)) : value
  }, z.int('must be a whole number'))
/** Query text of a boolean: `true`, `false`, `1`, `0` or empty (= true). */
export const queryBool = z.preprocess((text) => BOOLEANS.get(text) ?? text, z.boolean('must be true or false'))

/** `D`: the `directory` query parameter. */
export const directoryQuery = { directory: pathText.min(1).max(4096).optional() }
/** `S`: the storage scope selector. */
export const scopeQuery = { scope: z.enum(['installation', 'workspace']).optional() }
/** The session whose lists are asked for: what plugins bring for it, or for one above it, is in them. Its directory is that of the session. */
export const sessionQuery = { sessionId: z.string().min(1).max(200).optional() }
/** `H`: the `X-Svc-Directory` header. */
export const directoryHeaders = z.looseObject({ 'x-svc-directory': pathText.min(1).max(4096).optional() })
