/**
 * The script format of the offline model: what it is to stream, step by step, for people who write clients and
 * plugins. A script is a JSON array of steps, or one step per line (empty lines and lines that begin with `#`
 * are skipped). A step is an object; of its fields, those present are played in this order:
 *
 * | field | plays |
 * |---|---|
 * | `delayMs` | waits before anything else of the step |
 * | `error` | fails the request: `{ message, status?, retryable?, retryAfterMs?, overflow?, times? }`; with `times` only so often, so that a retry succeeds |
 * | `reasoning` | streams a reasoning block |
 * | `text` | streams text |
 * | `tool` + `input` | calls a tool; a string `input` is sent as it is |
 * | `finish` | ends the model step with this reason |
 *
 * `chunk` is the number of characters of each delta (default: a word), `gapMs` the wait between deltas, `repeat`
 * plays reasoning and text several times over. Tools called by neighbouring steps run in parallel: a model step
 * ends at `finish`, and before the first step without a tool after one with a tool. The next model step plays on.
 */
import { parseForeign } from '../../../protocol/text/foreign-json.js'
import * as z from 'zod'

const wait = z.number().min(0).max(600_000)

const ScriptError = z.strictObject({
  message: z.string(),
  status: z.number().int().optional(),
  retryable: z.boolean().optional(),
  retryAfterMs: z.number().min(0).optional(),
  overflow: z.boolean().optional(),
  times: z.number().int().min(1).optional(),
})
export type ScriptError = z.infer<typeof ScriptError>

const ScriptStep = z.strictObject({
  delayMs: wait.optional(),
  error: ScriptError.optional(),
  reasoning: z.string().optional(),
  text: z.string().optional(),
  tool: z.string().min(1).optional(),
  input: z.unknown().optional(),
  finish: z.enum(['stop', 'length', 'tool-calls', 'content-filter', 'other']).optional(),
  chunk: z.number().int().min(1).optional(),
  gapMs: wait.optional(),
  repeat: z.number().int().min(1).max(100_000).optional(),
})
type ScriptStep = z.infer<typeof ScriptStep>

/** The steps of one model step. */
export type ScriptTurn = readonly ScriptStep[]

export type ScriptReading = { readonly turns: readonly ScriptTurn[] } | { readonly problem: string }

const MAX_STEPS = 1000
const MAX_STREAMED = 4 * 1024 * 1024

/** Reads a script; what is wrong with it is answered as a sentence that names the step. */
export function readScript(text: string): ScriptReading {
  const source = text.trim().startsWith('[') ? readArray(text) : readLines(text)
  if ('problem' in source) return source
  if (source.values.length > MAX_STEPS) return { problem: `it has more than ${MAX_STEPS} steps` }
  const steps: ScriptStep[] = []
  let streamed = 0
  for (const [index, value] of source.values.entries()) {
    const parsed = ScriptStep.safeParse(value)
    if (!parsed.success) return { problem: `step ${index + 1}: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}` }
    const { reasoning = '', text: said = '', repeat = 1 } = parsed.data
    streamed += (reasoning.length + said.length) * repeat
    if (streamed > MAX_STREAMED) return { problem: `step ${index + 1}: the script streams more than ${MAX_STREAMED} characters` }
    steps.push(parsed.data)
  }
  return { turns: intoTurns(steps) }
}

/** The script inside a fenced `svc-script` block, if there is one. */
export function findScript(text: string): string | undefined {
  const opening = /(?<=^|\n)```svc-script[^\n]*\n/.exec(text)
  if (opening === null) return undefined
  const start = opening.index + opening[0].length
  const close = text.indexOf('\n```', start - 1)
  return close === -1 ? undefined : text.slice(start, close + 1)
}

type Source = { readonly values: readonly unknown[] } | { readonly problem: string }

function readArray(text: string): Source {
  try {
    const values: unknown = parseForeign(text)
    return Array.isArray(values) ? { values } : { problem: 'it is not an array' }
  } catch (error) {
    return { problem: `it is not valid JSON (${String(error)})` }
  }
}

function readLines(text: string): Source {
  const values: unknown[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue
    try {
      values.push(parseForeign(line))
    } catch {
      return { problem: `line ${index + 1} is not valid JSON` }
    }
  }
  return { values }
}

function intoTurns(steps: readonly ScriptStep[]): ScriptTurn[] {
  const turns: ScriptStep[][] = []
  let previous: ScriptStep | undefined
  for (const step of steps) {
    const ended = previous === undefined || previous.finish !== undefined || (previous.tool !== undefined && step.tool === undefined)
    if (ended) turns.push([step])
    else turns.at(-1)?.push(step)
    previous = step
  }
  return turns
}
