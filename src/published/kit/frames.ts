/** Frames of `svc-plugin/2` as a plugin sends and reads them (plugin-protocol §4.2, §4.3). */
import { LIMITS } from '../../protocol/limits.js'
import type { AnyRecord } from './host-types.js'

/** The protocol this library speaks; a plugin carries nothing of the server but its limits. */
export const PROTOCOL = 'svc-plugin/2'
/** A request without an id: nothing is answered. */
export const TOOL_PROGRESS = 'host.tool.progress'

/** One frame as a line without its end. Throws when it is no JSON or longer than a frame may be. */
export function encodeFrame(frame: AnyRecord): string {
  const line = JSON.stringify(frame)
  const size = Buffer.byteLength(line) + 1
  if (size > LIMITS.plugins.frameBytes) throw new Error(`a frame may have at most ${LIMITS.plugins.frameBytes} bytes; this one has ${size}`)
  return line
}

export function isRecord(value: unknown): value is AnyRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Part of a frame that is an object; an empty one when it is not. */
export function recordOf(value: unknown): AnyRecord {
  return isRecord(value) ? value : {}
}

/** The text of an error frame. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message === '') return error.name
  return PLAIN.has(error.name) ? error.message : `${error.name}: ${error.message}`
}

/** Names that say nothing beyond "it failed". */
const PLAIN: ReadonlySet<string> = new Set(['Error', 'ToolError'])

/** For the author: type, message, and where it was thrown; what caused it follows. */
export function errorTrace(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { stack, cause } = error
  const own = stack === undefined || stack === '' ? `${error.name}: ${error.message}` : stack
  return (cause instanceof Error ? `${own}\ncaused by ${cause.stack ?? cause.message}` : own)
    .split('\n')
    .filter((line) => !NOT_THEIRS.test(line))
    .join('\n')
}

/** Lines of a trace that are no work of the author: this library, as it lies in a package, and Node itself. */
const NOT_THEIRS = /^ +at .*(?:\/svc-plugin\.js:|node:internal\/)/
