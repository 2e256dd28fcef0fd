/** What a backup says of itself: its last member. */
import * as z from 'zod'
import { SvcError } from '../../protocol/errors.js'

/** Where it stands in the archive, and the two folders beside it. */
export const MANIFEST = 'manifest.json'
export const STATE = 'state/'
export const CONFIGURATION = 'configuration/'
export const DATABASE = `${STATE}agent.sqlite3`

const FORMAT = 1
const count = z.number().int().min(0)

export const Manifest = z.object({
  format: z.literal(FORMAT),
  /** Of the svc that made it. */
  version: z.string(),
  made: z.string(),
  credentials: z.boolean(),
  counts: z.object({ schema: count, sessions: count, messages: count, events: count, artifacts: count }),
  members: z.array(z.object({ path: z.string(), size: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
})
export type Manifest = z.infer<typeof Manifest>

/** Throws a sentence for one that is damaged or of a newer svc. */
export function readManifest(text: string): Manifest {
  const told = z.looseObject({ format: z.number(), version: z.string() }).safeParse(jsonOf(text))
  if (told.success && told.data.format > FORMAT)
    throw new SvcError('request.invalid', `It was made by a newer svc (${told.data.version}): restore it with that one.`)
  const read = Manifest.safeParse(jsonOf(text))
  if (!read.success) throw new SvcError('request.invalid', 'Its list of members cannot be read.')
  return read.data
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
