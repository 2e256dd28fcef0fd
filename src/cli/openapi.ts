/** `svc openapi`: the contract document, without starting anything. */
import { toOpenApi } from '../protocol/openapi.js'

/** Prints the OpenAPI 3.1 document as JSON. */
export function printOpenApi(): number {
  process.stdout.write(`${JSON.stringify(toOpenApi(), null, 2)}\n`)
  return 0
}
