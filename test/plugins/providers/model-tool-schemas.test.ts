/** Schemas of tools for vendors that refuse a request for a word they do not know (subsystems c.9). */
import { describe, expect, it } from 'vitest'
import { isRecord, type JsonRecord } from '../../../src/protocol/text/json.js'
import { chat } from '../../fixtures/vendors/chat.js'
import { content } from '../../fixtures/vendors/content.js'
import type { Vendor } from '../../fixtures/vendors/turn.js'
import { playVendor } from './model-protocols-setup.js'

const tool = (properties: object, more: object = {}) => ({
  id: 'probe',
  description: 'A tool.',
  parameters: { type: 'object', properties, ...more } as JsonRecord,
})

/** What a vendor received as the schema of the only tool; fails where the request was never made. */
async function offered(vendor: Vendor, parameters: ReturnType<typeof tool>, model = vendor.model): Promise<JsonRecord> {
  const request = { tools: [parameters], model: { id: model, providerId: 'local' } }
  const { body, error } = await playVendor(vendor, vendor.reply({ text: ['hi'] }), { request })
  expect(error).toBeUndefined()
  const [first] = body['tools'] as JsonRecord[]
  const declared = first?.['functionDeclarations'] ?? [first?.['function']]
  const schema: unknown = (declared as JsonRecord[])[0]?.['parameters']
  if (!isRecord(schema)) throw new Error(`no schema in ${JSON.stringify(body['tools'])}`)
  return schema
}

const GEMINI: readonly (readonly [what: string, given: object, taken: object])[] = [
  ['words nobody knows are left out', { a: { type: 'string', pattern: '^x', deprecated: true, format: 'uri' } }, { a: { type: 'string' } }],
  ['a format that is known stays', { a: { type: 'string', format: 'date-time' } }, { a: { type: 'string', format: 'date-time' } }],
  ['an enumeration gets its type', { a: { enum: ['x', 'y'] } }, { a: { type: 'string', enum: ['x', 'y'] } }],
  ['a constant is an enumeration', { a: { const: 'x' } }, { a: { type: 'string', enum: ['x'] } }],
  [
    'numbers are told in words, so that they stay numbers',
    { a: { type: 'integer', enum: [60, 1440], description: 'Minutes.' } },
    { a: { type: 'integer', description: 'Minutes. One of 60, 1440.' } },
  ],
  ['values of several kinds become strings', { a: { enum: ['x', 1, true] } }, { a: { type: 'string', enum: ['x', '1', 'true'] } }],
  ['an empty word is no choice', { a: { enum: ['', 'x'] } }, { a: { type: 'string', enum: ['x'] } }],
  ['null is left out', { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, { a: { type: 'string' } }],
  ['null among types, too', { a: { type: ['integer', 'null'] } }, { a: { type: 'integer' } }],
  [
    'alternatives stay alternatives',
    { a: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } },
    { a: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } },
  ],
  ['a list of anything has a type', { a: { type: 'array' } }, { a: { type: 'array', items: { type: 'string' } } }],
  [
    'places in a list are told as the first',
    { a: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] } },
    { a: { type: 'array', items: { type: 'number' } } },
  ],
  [
    'what belongs together is joined',
    {
      a: {
        allOf: [
          { type: 'object', properties: { x: { type: 'string' } } },
          { properties: { y: { type: 'number' } }, required: ['y'] },
        ],
      },
    },
    { a: { type: 'object', properties: { x: { type: 'string' }, y: { type: 'number' } }, required: ['y'] } },
  ],
  [
    'requirements without a property are none',
    { a: { type: 'object', properties: { x: { type: 'string' } }, required: ['x', 'z'], anyOf: [{ required: ['x'] }] } },
    { a: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] } },
  ],
  ['anything at all is a string', { a: {}, b: true }, { a: { type: 'string' }, b: { type: 'string' } }],
]

describe('a strict vendor', () => {
  it.each(GEMINI)('%s', async (_what, given, taken) => {
    expect((await offered(content, tool(given)))['properties']).toEqual(taken)
  })

  it('gets references written out, and those to themselves cut off', async () => {
    const schema = tool(
      { tree: { $ref: '#/$defs/Node', description: 'The root.' } },
      { $defs: { Node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/Node' } } } } },
    )
    expect((await offered(content, schema))['properties']).toEqual({
      tree: { type: 'object', description: 'The root.', properties: { name: { type: 'string' }, next: { type: 'string' } } },
    })
  })

  it('gets a bounded schema of one whose references multiply', async () => {
    const $defs: Record<string, object> = { d0: { type: 'string' } }
    for (let level = 1; level <= 20; level++) {
      const $ref = `#/$defs/d${level - 1}`
      $defs[`d${level}`] = { type: 'object', properties: { a: { $ref }, b: { $ref }, c: { $ref } } }
    }
    const schema = await offered(content, tool({ bomb: { $ref: '#/$defs/d20' } }, { $defs }))
    expect(JSON.stringify(schema).length).toBeLessThan(200_000)
  })

  it('is known by its model behind a compatible endpoint; others get what the tool says', async () => {
    const schema = tool({ a: { enum: [1, 2], $comment: 'kept' } }, { $defs: {} })
    expect(await offered(chat, schema, 'moonshotai/kimi-k3')).toEqual({
      type: 'object',
      properties: { a: { type: 'number', description: 'One of 1, 2.' } },
    })
    expect(await offered(chat, schema)).toEqual(schema.parameters)
  })
})
