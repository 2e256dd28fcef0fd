/** Answers that are passed on as the server says them, with columns in bytes from zero: edits and code actions (subsystems e.7). */
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { RawRange } from '../clients/diagnostics.js'
import type { Reading } from './reading.js'

const DEPTH = 12

/** A copy; what stands below `changes` and `textDocument` refers to the files named there, everything else to `uri`. */
export async function rawOf(answer: unknown, uri: string, reading: Reading): Promise<unknown[]> {
  if (!Array.isArray(answer)) return []
  return Promise.all(answer.slice(0, LIMITS.lsp.places).map((each: unknown) => within(each, uri, reading)))
}

async function within(value: unknown, uri: string, reading: Reading, depth = 0): Promise<unknown> {
  if (depth > DEPTH) return null
  if (Array.isArray(value)) return Promise.all(value.map((each: unknown) => within(each, uri, reading, depth + 1)))
  if (!isRecord(value)) return value
  const range = RawRange.safeParse(value)
  if (range.success) {
    const [start, end] = await Promise.all([reading.bytesAt(uri, range.data.start), reading.bytesAt(uri, range.data.end)])
    return start === undefined || end === undefined ? value : { start, end }
  }
  const { textDocument } = value
  const own = isRecord(textDocument) && typeof textDocument['uri'] === 'string' ? textDocument['uri'] : uri
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, each]): Promise<[string, unknown]> => {
      if (key === 'data' || key === 'arguments') return [key, each] // The server's own.
      if (key !== 'changes' || !isRecord(each)) return [key, await within(each, own, reading, depth + 1)]
      const files = Object.entries(each).map(async ([file, edits]) => [file, await within(edits, file, reading, depth + 1)] as const)
      return [key, Object.fromEntries(await Promise.all(files))]
    }),
  )
  return Object.fromEntries(entries)
}
