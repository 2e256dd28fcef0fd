/** What docs/plugin-brokers.md is written from: each operation with its schemas as JSON Schema, names of records resolved. */
import * as z from 'zod'
import { BROKER_OPERATIONS } from './broker-operations.js'
import type { BrokerOperations } from './operations/operation.js'
import { isRecord } from '../text/json.js'

interface OperationRow {
  readonly capability: string
  readonly name: string
  readonly summary: string
  readonly input: unknown
  readonly output: unknown
  readonly waits: boolean
  readonly refusals: readonly string[]
}

export function brokerRows(): readonly OperationRow[] {
  return Object.entries(BROKER_OPERATIONS).flatMap(([capability, operations]) =>
    Object.entries(operations as BrokerOperations).map(([name, { summary, input, output, waits = false, refusals }]) => ({
      capability,
      name,
      summary,
      input: schemaOf(input, 'input'),
      output: schemaOf(output, 'output'),
      waits,
      refusals,
    })),
  )
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): unknown {
  const { $defs = {}, ...whole } = z.toJSONSchema(schema, { io })
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved)
    if (!isRecord(value)) return value
    const { $ref } = value
    if (typeof $ref === 'string') return resolved($defs[$ref.slice($ref.lastIndexOf('/') + 1)])
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolved(each)]))
  }
  return resolved(whole)
}
