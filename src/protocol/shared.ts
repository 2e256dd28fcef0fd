/** Schema pieces that several nouns share: counters, times, parameters (http-contract §0). */
import * as z from 'zod'

export const uint = z.number().int().min(0)
export const pos = z.number().int().min(1)
/** Unix milliseconds. */
export const ms = z.number().int()
export const anyRecord = z.record(z.string(), z.unknown())

/** Query text of a whole number, e.g. `limit`. */
export const queryInt = (min: number, max: number) =>
  z.coerce.number({ message: 'must be an integer' }).int('must be an integer').min(min).max(max)
/** Query text of a boolean: `true`, `false`, `1`, `0` or empty (= true). */
export const queryBool = z
  .enum(['true', 'false', '1', '0', ''])
  .transform((text) => text === 'true' || text === '1' || text === '')
  .meta({ type: 'boolean' })

/** `D`: the `directory` query parameter. */
export const directoryQuery = { directory: z.string().min(1).max(4096).optional() }
/** `S`: the storage scope selector. */
export const scopeQuery = { scope: z.enum(['installation', 'workspace']).optional() }
/** `H`: the `X-Svc-Directory` header. */
export const directoryHeaders = z.looseObject({ 'x-svc-directory': z.string().min(1).max(4096).optional() })
