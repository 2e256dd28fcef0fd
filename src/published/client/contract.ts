/**
 * The operations as the client needs them to make requests, computed from the contracts. The build replaces this module
 * by its values, so that no schema travels with the client.
 */
import { API } from '../../protocol/api.js'
import { LIMITS } from '../../protocol/limits.js'
import { fieldNames } from '../../protocol/text/parse.js'
import type { Method, RouteContract } from '../../protocol/route.js'

export interface Operation {
  /** Operation id without the version in front: `sessions.create`. */
  readonly name: string
  readonly method: Method
  readonly path: string
  /** `none` for 204, `bytes` for what is no JSON, `socket` for WebSockets. */
  readonly answer: 'json' | 'none' | 'bytes' | 'stream' | 'socket'
  /** Media type of the body when it is bytes. */
  readonly bytes?: string
  /** Whether it takes the directory of the call. */
  readonly directory?: true
  /** Names of its query parameters, where it has any. */
  readonly query?: readonly string[]
  /** Whether its body is needed, where it takes one. */
  readonly body?: boolean
}

export const CONTRACT: { readonly operations: readonly Operation[]; readonly heartbeat: number; readonly recordBytes: number } = {
  operations: API.map(toOperation),
  heartbeat: LIMITS.events.heartbeat,
  recordBytes: LIMITS.events.recordBytes,
}

function toOperation(route: RouteContract): Operation {
  const query = fieldNames(route.query)
  const body = route.binaryBody === undefined ? route.body?.required : true
  return {
    name: route.id.replace(/^v2\./, ''),
    method: route.method,
    path: route.path,
    answer: answerOf(route.success),
    ...(route.binaryBody === undefined ? {} : { bytes: route.binaryBody.mediaType }),
    ...(query.includes('directory') ? { directory: true } : {}),
    ...(query.length === 0 ? {} : { query }),
    ...(body === undefined ? {} : { body }),
  }
}

function answerOf({ status, schema, mediaType }: RouteContract['success']): Operation['answer'] {
  if (mediaType === 'text/event-stream') return 'stream'
  if (status === 101) return 'socket'
  if (schema !== undefined) return 'json'
  return status === 204 ? 'none' : 'bytes'
}
