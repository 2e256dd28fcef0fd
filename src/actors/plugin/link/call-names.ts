/** What calls of a plugin and by it are about, as the inspector names them: ids alone, nothing of what is asked. */
import { isRecord } from '../../../protocol/text/json.js'
import type { BegunCall } from '../calls/call-log.js'

/** Where the methods of the protocol have the id of what is called. */
const NAMES = ['tool', 'hook', 'routeId', 'serviceId'] as const

export function calledBy(method: string, params: unknown): BegunCall {
  const asked = isRecord(params) ? params : {}
  const { context, request } = asked
  const name = NAMES.map((key) => asked[key]).find((value) => typeof value === 'string')
  const sessionId = [asked, context, request].map((place) => (isRecord(place) ? place['sessionId'] : undefined)).find(isText)
  return { from: 'host', method, ...(isText(name) && { name }), ...(sessionId !== undefined && { sessionId }) }
}

/** The same of a request of a plugin: the operation where it names one. */
export function askedBy({ method, params }: { readonly method: string; readonly params: unknown }): BegunCall {
  const operation = isRecord(params) ? params['operation'] : undefined
  return { from: 'plugin', method, ...(isText(operation) && { name: operation }) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
