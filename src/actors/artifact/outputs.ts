/**
 * Tool outputs within their limits (sessions-events §10.3, §3.6): what a model gets is bounded, and what was cut is kept
 * in a managed file for seven days.
 *
 * I1 Text is well-formed Unicode and no cut splits a character (threat-model 6.5.3).
 * I2 A result that carries `metadata.truncated` was bounded by its tool and is taken as it is up to twice the limits.
 * I3 A managed file that cannot be written costs the full copy, never the result.
 */
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../../ports/effects.js'
import type { ManagedOutputs, ToolResult } from '../../ports/plugin.js'
import { wellFormed } from '../../protocol/text/well-formed.js'
import { type FollowedBounds, followBounds } from './storage-bounds.js'

const { outputLines, outputBytes, artifactBytes } = LIMITS.tools
/** Files removed by one sweep at most. */
const SWEPT = 1000

export interface Bounded {
  readonly text: string
  readonly truncated: boolean
}

/**
 * At most 2000 lines and 51,200 bytes of a text: itself, or a notice, its beginning, a mark of what was left out, and
 * its end. `where` is added to the notice, e.g. where the whole text is.
 */
export function boundOutput(text: string, where?: string): Bounded {
  const lines = countLines(text)
  const bytes = Buffer.byteLength(text)
  if (lines <= outputLines && bytes <= outputBytes) return { text, truncated: false }
  const head = text.slice(0, headEnd(text, outputLines / 2, outputBytes / 2))
  const tail = text.slice(tailStart(text, outputLines / 2, outputBytes / 2))
  const omitted = Math.max(0, lines - countLines(head) - countLines(tail))
  const left =
    omitted === 0 ? `${bytes - Buffer.byteLength(head) - Buffer.byteLength(tail)} bytes` : `${omitted} ${omitted === 1 ? 'line' : 'lines'}`
  const notice = `(The output has ${lines} lines, ${bytes} bytes, and was cut. ${where ?? 'Its beginning and end follow.'})`
  return { text: `${notice}\n\n${closed(head)}... ${left} omitted ...\n${tail}`, truncated: true }
}

export interface ManagedOutputsOptions {
  readonly effects: Pick<Effects, 'files' | 'ids' | 'clock'>
  /** `<state>/tool-output`. */
  readonly directory: string
  readonly bounds?: FollowedBounds
}

export interface OutputFiles extends ManagedOutputs {
  /** Removes files older than seven days, some thousand per call; true while more may be left. */
  sweep(): Promise<boolean>
}

export function createManagedOutputs({ effects, directory, bounds = followBounds() }: ManagedOutputsOptions): OutputFiles {
  const { files, ids, clock } = effects
  return {
    async store(text) {
      const id = ids.next('tool')
      const path = `${directory}/${id}`
      await files.makeDirectory(directory, { mode: 0o700 })
      await files.writeAtomic(path, cutBytes(text, artifactBytes), { mode: 0o600 })
      return { id, path }
    },
    async sweep() {
      const entries = await files.readDirectory(directory).catch(() => [])
      const kept = await Promise.all(
        entries.filter(({ kind }) => kind === 'file').map(async ({ name }) => ({ name, stat: await files.stat(`${directory}/${name}`) })),
      )
      const { age, bytes } = bounds.now().outputs
      const expired = clock.now() - age
      let left = 0
      const surplus = kept
        .flatMap(({ name, stat }) => (stat === undefined ? [] : [{ name, size: stat.size, at: stat.modifiedMs }]))
        .toSorted((one, other) => other.at - one.at)
        .filter(({ size, at }) => (left += size) > bytes || at < expired)
        .toReversed()
      for (const { name } of surplus.slice(0, SWEPT)) await files.remove(`${directory}/${name}`)
      if (surplus.length > SWEPT) return true
      return false
    },
  }
}

export interface SettledResult extends ToolResult {
  readonly metadata: Readonly<Record<string, unknown>>
}

interface Settlement {
  readonly tool: string
  readonly sessionId: string
  readonly outputs: ManagedOutputs
}

/** The result as it is stored: bounded, with `truncated`, `outputPath` and `artifact` when it was cut, and always `render`. Waits for what is cut. */
export function settleOutput(result: ToolResult, settlement: Settlement): SettledResult | Promise<SettledResult> {
  const title = wellFormed(result.title)
  const output = wellFormed(result.output)
  const metadata = asRecord(result.metadata)
  const shown = { ...result, title, output }
  if (isBounded(output, metadata)) return rendered(shown, { output, metadata }, settlement)
  return spill(shown, metadata, settlement).then((settled) => rendered(shown, settled, settlement))
}

function rendered(
  result: ToolResult,
  settled: Pick<SettledResult, 'output' | 'metadata'>,
  { tool }: Pick<Settlement, 'tool'>,
): SettledResult {
  const { title } = result
  const lines = settled.output === '' ? 0 : countLines(settled.output)
  const render = {
    version: 1,
    tool,
    title,
    lineCount: lines,
    byteCount: Buffer.byteLength(settled.output),
    hasSnapshots: isFilled(settled.metadata['snapshots']),
    kind: renderKind(settled.metadata),
  }
  return { ...result, output: settled.output, metadata: { ...settled.metadata, render } }
}

function isBounded(output: string, metadata: Readonly<Record<string, unknown>>): boolean {
  const factor = typeof metadata['truncated'] === 'boolean' ? 2 : 1 // I2
  return Buffer.byteLength(output) <= outputBytes * factor && countLines(output) <= outputLines * factor
}

async function spill(
  result: ToolResult,
  metadata: Readonly<Record<string, unknown>>,
  { tool, sessionId, outputs }: Settlement,
): Promise<Pick<SettledResult, 'output' | 'metadata'>> {
  const { title, output } = result
  const byteCount = Buffer.byteLength(output)
  const saved = await outputs.store(output, { tool, title, sessionId }).catch(() => undefined)
  if (saved === undefined) {
    const bounded = boundOutput(output, 'The whole output could not be saved; its beginning and end follow.') // I3
    return { output: bounded.text, metadata: { ...metadata, truncated: true } }
  }
  const { id, path } = saved
  const bounded = boundOutput(output, `The whole output is in ${path}: use "read" with an offset, or "grep", on that file.`)
  const artifact = {
    id,
    uri: `artifact://tool-output/${id}`,
    kind: 'tool-output',
    tool,
    title,
    path,
    byteCount: Math.min(byteCount, artifactBytes),
    summary: `Output of ${tool}: ${countLines(output)} lines, ${byteCount} bytes`,
  }
  return { output: bounded.text, metadata: { ...metadata, truncated: true, outputPath: path, artifact } }
}

function renderKind(metadata: Readonly<Record<string, unknown>>): 'diff' | 'lsp' | 'todo' | 'text' {
  if (isFilled(metadata['snapshots'])) return 'diff'
  if (metadata['lsp'] !== undefined || metadata['diagnostics'] !== undefined) return 'lsp'
  return metadata['todos'] === undefined ? 'text' : 'todo'
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

/** Plugins answer over frames, so metadata may be anything; what is no object is wrapped. */
function asRecord(metadata: unknown): Readonly<Record<string, unknown>> {
  if (metadata === undefined || metadata === null) return {}
  if (typeof metadata !== 'object' || Array.isArray(metadata)) return { raw: metadata }
  return { ...metadata }
}

/** A newline at the end opens no further line. */
function countLines(text: string): number {
  if (text === '') return 0
  let count = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

function closed(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}

/** End of the longest beginning of so many lines and bytes. */
function headEnd(text: string, lines: number, bytes: number): number {
  let at = 0
  let left = bytes
  let ended = 0
  while (at < text.length && ended < lines) {
    const code = text.codePointAt(at) ?? 0
    left -= utf8Length(code)
    if (left < 0) break
    at += code > 0xffff ? 2 : 1
    if (code === 0x0a) ended++
  }
  return at
}

/** Start of the longest end of so many lines and bytes. */
function tailStart(text: string, lines: number, bytes: number): number {
  let at = text.length
  let left = bytes
  let ended = 0
  while (at > 0) {
    const unit = text.charCodeAt(at - 1)
    const pair = unit >= 0xdc00 && unit <= 0xdfff && at > 1 && isHigh(text.charCodeAt(at - 2))
    if (unit === 0x0a && at < text.length && ++ended === lines) break
    left -= pair ? 4 : utf8Length(unit)
    if (left < 0) break
    at -= pair ? 2 : 1
  }
  return at
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function utf8Length(code: number): number {
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x10000 ? 3 : 4
}

function cutBytes(text: string, max: number): Uint8Array {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= max) return bytes
  let end = max
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}
