/**
 * JSON that others wrote: a server, a service, a program. Its levels and values are counted before it is parsed, since parsing holds up
 * everybody else for as long as there are values (threat-model X1, §7).
 */
import { excessOf, type JsonBounds } from './json-bounds.js'
import { LIMITS } from '../limits.js'

/** Shorter texts have no room for more than is parsed at once anywhere. */
const HARMLESS = 16 * 1024

const { answerValues, answerContainers, answerKeys, messageValues, messageContainers, messageKeys, catalogValues } = LIMITS.foreign
const depth = LIMITS.http.jsonDepth

/** Of the answer of a service, and of an event of a model. */
const ANSWER_BOUNDS: JsonBounds = { depth, values: answerValues, containers: answerContainers, keys: answerKeys }
/** Of a message of a server of tools or of a language. One schema that is too deep is left out where it is read, and not all that comes with it. */
export const MESSAGE_BOUNDS: JsonBounds = { depth: 16 * depth, values: messageValues, containers: messageContainers, keys: messageKeys }
/** Of the catalog of models, which is read once in a while. */
export const CATALOG_BOUNDS: JsonBounds = { depth, values: catalogValues }

/** The end of a sentence about JSON that is not worth parsing: "it has more than …". */
export function foreignExcess(json: string | Uint8Array, bounds: JsonBounds = ANSWER_BOUNDS): string | undefined {
  if (json.length <= HARMLESS) return undefined
  return excessOf(typeof json === 'string' ? new TextEncoder().encode(json) : json, bounds)
}

/** Its value. Throws for what has too much in it, as for what is no JSON. */
export function parseForeign(json: string | Uint8Array, bounds: JsonBounds = ANSWER_BOUNDS): unknown {
  const excess = foreignExcess(json, bounds)
  if (excess !== undefined) throw new Error(`it ${excess}`)
  return JSON.parse(typeof json === 'string' ? json : new TextDecoder().decode(json))
}
