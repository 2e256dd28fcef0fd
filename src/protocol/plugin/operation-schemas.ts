/** What operations of brokers take and answer, as JSON Schemas: for the libraries of authors and their page (`scripts/plugin-kits.mjs`). */
import * as z from 'zod'

/** As an author writes it: what has a default may be left out. */
export function inputSchemaOf(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
}

export function outputSchemaOf(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })
}
