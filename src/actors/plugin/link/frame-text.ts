/** One frame as text, in and out, within the limit of a frame (plugin-protocol §4.2). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { PluginFrame } from '../../../protocol/plugin/plugin-frame.js'
import { readJson } from './json-text.js'
import { type Envelope, envelopeOf } from './frame-envelope.js'
import { messageOf } from '../../../protocol/message-of.js'

/** Most bytes of UTF-8 one UTF-16 unit takes. */
const WIDEST = 3

/** The frame of a line, or why the line is none; `envelope` says then whose answer or question it was, as far as it says so. */
export function readFrame(
  line: Uint8Array,
): { readonly frame: PluginFrame } | { readonly problem: string; readonly envelope: Envelope | undefined } {
  const json = readJson(line)
  if ('problem' in json) return { problem: json.problem, envelope: envelopeOf(line) }
  const parsed = PluginFrame.safeParse(json.value)
  if (parsed.success) return { frame: parsed.data }
  const issue = parsed.error.issues[0]
  const problem = `is no frame: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is malformed'}`
  return { problem, envelope: envelopeOf(line) }
}

/** A frame as a line with its newline; throws `plugin.failed` when it cannot be sent. */
export function writeFrame(frame: object): string {
  const text = encode(frame)
  const limit = LIMITS.plugins.frameBytes
  if (text.length * WIDEST > limit) {
    const bytes = Buffer.byteLength(text)
    if (bytes > limit)
      throw new SvcError('plugin.failed', `The frame has ${bytes} bytes; at most ${limit} can be sent to a plugin.`, { frameBytes: bytes })
  }
  return `${text}\n`
}

/** Whether `writeFrame` refused a frame for its size. */
export function isFrameTooLarge(error: unknown): boolean {
  return error instanceof SvcError && 'frameBytes' in error.details
}

/** Bytes of a value as compact JSON, the measure of every budget (plugin-protocol §4.9). */
export function encodedBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? 'null')
}

function encode(frame: object): string {
  try {
    return JSON.stringify(frame)
  } catch (error) {
    throw new SvcError('plugin.failed', `The frame cannot be written as JSON: ${messageOf(error)}`)
  }
}
