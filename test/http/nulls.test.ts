// Holds threat-model T3.
/** An explicit `null` for an optional field means absent, wherever the published schema of a request has one. */
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { createTokens } from '../../src/http/admission/tokens.js'
import { API } from '../../src/protocol/api.js'
import type { RouteContract } from '../../src/protocol/route.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { BEARER, TOKEN, createTestServer, requestOf } from './setup.js'

interface JsonSchema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
}

/** A value with every optional field, and the places of those that may not be null. */
interface Sample {
  readonly value: unknown
  readonly places: readonly (readonly (string | number)[])[]
}

const runtime = createFakeRuntime()
const server = createTestServer({ runtime, tokens: createTokens({ SVC_AGENT_TOKEN: TOKEN }) })
afterAll(() => server.close(0))

/** Something for every pattern of the contracts. */
const TEXTS = ['some-text', 'msg_1', 'test/scripted', '/some/where']

/** Samples that have each branch of each union at least once. */
function samplesOf(schema: JsonSchema, root: JsonSchema): readonly Sample[] {
  const leaf = (value: unknown): readonly Sample[] => [{ value, places: [] }]
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/$defs/', '')
    return samplesOf(root.$defs?.[name] ?? {}, root)
  }
  const branches = schema.anyOf ?? schema.oneOf
  if (branches !== undefined) return branches.filter(({ type }) => type !== 'null').flatMap((branch) => samplesOf(branch, root))
  if (schema.const !== undefined) return leaf(schema.const)
  if (schema.enum !== undefined) return leaf(schema.enum[0])
  if (schema.type === 'string') return leaf(TEXTS.find((text) => new RegExp(schema.pattern ?? '', 'u').test(text)))
  if (schema.type === 'integer' || schema.type === 'number') return leaf(Math.max(1, schema.minimum ?? 1))
  if (schema.type === 'boolean') return leaf(true)
  if (schema.type === 'array')
    return samplesOf(schema.items ?? {}, root).map(({ value, places }) => ({
      value: [value],
      places: places.map((place) => [0, ...place]),
    }))
  return schema.type === 'object' ? objectsOf(schema, root) : leaf('anything')
}

function objectsOf({ properties = {}, required = [], additionalProperties }: JsonSchema, root: JsonSchema): readonly Sample[] {
  const extra = typeof additionalProperties === 'object' ? { entry: additionalProperties } : {}
  const fields = Object.entries({ ...properties, ...extra }).map(([name, schema]) => ({
    name,
    samples: samplesOf(schema, root),
    isOptional: name in properties && !required.includes(name) && !takesNull(schema, root),
  }))
  const count = Math.max(1, ...fields.map(({ samples }) => samples.length))
  return Array.from({ length: count }, (_, index) => {
    const chosen = fields.flatMap(({ name, samples, isOptional }) => {
      const sample = samples[index % samples.length]
      return sample === undefined ? [] : [{ name, sample, isOptional }]
    })
    return {
      value: Object.fromEntries(chosen.map(({ name, sample }) => [name, sample.value])),
      places: chosen.flatMap(({ name, sample, isOptional }) => [
        ...(isOptional ? [[name]] : []),
        ...sample.places.map((place) => [name, ...place]),
      ]),
    }
  })
}

function takesNull(schema: JsonSchema, root: JsonSchema): boolean {
  if (schema.$ref !== undefined) return takesNull(root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {}, root)
  return schema.type === 'null' || (schema.anyOf ?? schema.oneOf ?? []).some((branch) => takesNull(branch, root))
}

function changed(value: unknown, [step, ...rest]: readonly (string | number)[], as: 'null' | 'absent'): unknown {
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === step ? changed(item, rest, as) : item))
  const entries = Object.entries(value as object)
  if (rest.length > 0) return Object.fromEntries(entries.map(([key, item]) => [key, key === step ? changed(item, rest, as) : item]))
  return Object.fromEntries(entries.flatMap(([key, item]) => (key !== step ? [[key, item]] : as === 'null' ? [[key, null]] : [])))
}

async function outcome(contract: RouteContract, body: unknown) {
  const { method, url } = requestOf(contract)
  runtime.calls.length = 0
  const headers = { ...BEARER, 'content-type': 'application/json' }
  const answer = await server.inject({ method, url, headers, payload: JSON.stringify(body) })
  const { requestId: _, ...said } = { requestId: '', ...(answer.body === '' ? {} : answer.json<object>()) }
  return { status: answer.statusCode, said, calls: structuredClone(JSON.parse(JSON.stringify(runtime.calls))) as unknown }
}

const withBodies = API.flatMap((contract) => (contract.body === undefined ? [] : [[contract.id, contract, contract.body.schema] as const]))

test.each(withBodies)('%s', async (_id, contract, schema) => {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  for (const { value, places } of samplesOf(root, root)) {
    expect(await outcome(contract, value)).toMatchObject({ status: contract.success.status })
    for (const place of places) {
      expect({ place, ...(await outcome(contract, changed(value, place, 'null'))) }).toEqual({
        place,
        ...(await outcome(contract, changed(value, place, 'absent'))),
      })
    }
  }
})

test('where null has a meaning it is kept', async () => {
  const workflow = API.find(({ id }) => id === 'v2.plugins.workflows.patch')
  const config = API.find(({ id }) => id === 'v2.config.update')
  if (workflow === undefined || config === undefined) throw new Error('no such operation')
  expect(JSON.stringify((await outcome(workflow, { agent: null, name: null })).calls)).toContain('"body":{"agent":null}')
  expect((await outcome(config, { model: null, agent: { build: { prompt: null } } })).calls).toContainEqual({
    method: 'configs.update',
    args: ['/srv/here', { model: null, agent: { build: { prompt: null } } }],
  })
})
