/** Frames of `svc-plugin/2` as a plugin reads and writes them (plugin-protocol §4.2, §4.3); every text is one line. */
import { LIMITS } from '../../protocol/limits.js'
import type { PROCESS_PROTOCOL } from '../../protocol/plugin/plugin-frame.js'

export const PROTOCOL: typeof PROCESS_PROTOCOL = 'svc-plugin/2'

/** What comes in: a request or notification (`method`), or the answer to a request of ours. */
export type Inbound =
  | { readonly type: 'call'; readonly id: number | undefined; readonly method: string; readonly params: Fields; readonly line: string }
  | { readonly type: 'answer'; readonly id: number; readonly line: string }

export type Fields = Readonly<Record<string, unknown>>

/** Undefined for what is no frame. */
export function parseFrame(line: string): Inbound | undefined {
  const frame = fieldsOf(parse(line))
  const { id, method } = frame
  if (id !== undefined && id !== null && !isId(id)) return undefined
  if (typeof method === 'string') return { type: 'call', id: isId(id) ? id : undefined, method, params: fieldsOf(frame['params']), line }
  return method === undefined && isId(id) ? { type: 'answer', id, line } : undefined
}

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** JSON of the owner of an instance, which a host may leave out of `initialize` (plugin-protocol §6.1). */
export function ownerOf({ owner, pluginId, instanceId }: Fields): string {
  return JSON.stringify(owner ?? { pluginId, instanceId })
}

/** `result` is JSON. */
export function resultFrame(id: number, result: string): string {
  return `{"id":${id},"result":${result}}\n`
}

export function errorFrame(id: number, error: string): string {
  return `${JSON.stringify({ id, error })}\n`
}

/** `owner` and `params` are JSON. */
export function requestFrame(id: number, method: string, rest: { readonly params: string; readonly owner: string }): string {
  return `{"id":${id},"method":${JSON.stringify(method)},"params":${rest.params},"owner":${rest.owner}}\n`
}

export interface StreamName {
  readonly streamId: string
  readonly requestId: number
}

/** `value` is JSON. */
export type StreamPart =
  | { readonly kind: 'open' }
  | { readonly kind: 'item'; readonly value: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: string }

export function streamFrame(owner: string, { streamId, requestId }: StreamName, part: StreamPart): string {
  const rest = part.kind === 'item' ? `,"value":${part.value}` : part.kind === 'error' ? `,"error":${JSON.stringify(part.error)}` : ''
  return `{"owner":${owner},"requestId":${requestId},"stream":{"kind":"${part.kind}","streamId":${JSON.stringify(streamId)}${rest}}}\n`
}

/** Whether a line, its end included, may be sent. */
export function fitsFrame(line: string): boolean {
  return line.length <= LIMITS.plugins.frameBytes && byteLength(line) <= LIMITS.plugins.frameBytes
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text)
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && typeof value === 'number' && value >= 0
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
