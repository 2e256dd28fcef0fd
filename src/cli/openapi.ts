/** `svc openapi`: the contract document, without starting anything. */
import { toOpenApi } from '../protocol/openapi.js'
import { jsonText, writeOut } from './terminal/output.js'

/** Prints the OpenAPI 3.1 document as JSON. */
export function printOpenApi(): number {
  writeOut(`${jsonText(toOpenApi(), 2)}\n`)
  return 0
}
