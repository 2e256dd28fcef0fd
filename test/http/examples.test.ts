/**
 * The examples of docs/http.md are what the contracts say: one of every operation, its request understood, its answer promised. A new
 * operation gets its example with `SVC_TEST_EXAMPLES=1 npx vitest run test/e2e/contract.test.ts && npm run format && npm run reference`.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { API } from '../../src/protocol/api.js'
import { EVENT_SENTENCES } from '../../src/protocol/event/event-sentences.js'
import { toOpenApi } from '../../src/protocol/openapi.js'
import { parseRequest } from '../../src/protocol/text/parse.js'

const Examples = z.record(
  z.string(),
  z.strictObject({
    method: z.string(),
    path: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.unknown().optional(),
    status: z.number(),
    answer: z.unknown().optional(),
  }),
)
const examples = Examples.parse(JSON.parse(readFileSync(new URL('../../scripts/http-examples.json', import.meta.url), 'utf8')))

test('there is one of every operation, and of nothing else', () => {
  expect(Object.keys(examples).toSorted()).toEqual(API.map(({ id }) => id).toSorted())
})

test('each is understood and answered as its contract says', () => {
  for (const route of API) {
    const { method, path, status, body, answer } = examples[route.id] ?? {}
    const pattern = new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?.*)?$`)
    expect([route.id, method, status, path === route.path || pattern.test(path ?? '')]).toEqual([
      route.id,
      route.method,
      route.success.status,
      true,
    ])
    if (route.body !== undefined && body !== undefined) parseRequest(route.body.schema, 'body', body)
    const faults = answer === undefined ? undefined : route.success.schema?.safeParse(answer).error
    expect([route.id, faults]).toEqual([route.id, undefined])
  }
})

test('nothing of the machine is in them', () => {
  expect(JSON.stringify(examples)).not.toMatch(/svc-e2e|\/work\/|node_modules\/\.cache/)
})

test('every event has its sentence in the document', () => {
  const Described = z.looseObject({
    components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({ description: z.string().optional() })) }),
  })
  const { schemas } = Described.parse(JSON.parse(JSON.stringify(toOpenApi()))).components
  const sentences = Object.values(schemas).map(({ description }) => description)
  expect(Object.values(EVENT_SENTENCES).filter((sentence) => !sentences.includes(sentence))).toEqual([])
})
