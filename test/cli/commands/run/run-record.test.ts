// The records of svc run: docs/scripts.md tells every field of the last one.
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { expect, test } from 'vitest'
import { RunRecord, RunResult } from '../../../../src/cli/commands/run/run-record.js'

const { properties = {}, required = [] } = z.toJSONSchema(RunResult) as {
  readonly properties?: Readonly<
    Record<string, { readonly description?: string; readonly const?: string | number; readonly enum?: readonly string[] }>
  >
  readonly required?: readonly string[]
}

function rowOf([name, { description, const: only, enum: choices }]: [string, (typeof properties)[string]]): string {
  const values = only === undefined ? choices : [String(only)]
  const is = [values?.map((value) => `\`${value}\``).join(', '), description].filter((each) => each !== undefined).join(': ')
  return `| \`${name}\` | ${required.includes(name) ? 'always' : 'where there is one'} | ${is} |`
}

test('the page tells every field as the schema has it', () => {
  const page = readFileSync(new URL('../../../../docs/scripts.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows).toEqual(Object.entries(properties).map(rowOf))
})

test('what is no record is refused', () => {
  expect(RunRecord.safeParse({ type: 'result', version: 1 }).success).toBe(false)
  expect(RunRecord.safeParse({ type: 'message.updated', data: {} }).success).toBe(false)
})
