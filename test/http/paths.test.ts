/** Every parameter of the API that names a place: one with a NUL in it names none (threat-model F1, H9). */
import { afterAll, describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { API } from '../../src/protocol/api.js'
import { ApiError } from '../../src/protocol/api-error.js'
import type { RouteContract } from '../../src/protocol/route.js'
import { createTestServer, isForOperator, requestOf, withToken } from './setup.js'

const server = createTestServer()
const guarded = createTestServer(withToken)
afterAll(async () => {
  await server.close(0)
  await guarded.close(0)
})

/** How parameters are called that name a place, and those that are called so and name none. */
const PLACE = /path|file|dir|cwd|root|folder|target|worktree/i
const NO_PLACES = [
  // Asks for sessions without a parent.
  'v2.sessions.list query roots',
  // Names that are shown, and opened by nobody.
  'v2.sessions.prompt body parts.filename',
  'v2.sessions.promptAsync body parts.filename',
  'v2.sessions.parts.update body filename',
  // Names of files in a skill keep narrower rules of their own; their values are texts.
  'v2.management.skills.install body files',
  'v2.management.skills.create body files',
  'v2.management.skills.update body files',
]

/** Names of the strings in a schema, joined by dots from the outside in; an item of a list or record has the name of the list. */
function stringsOf(schema: z.core.$ZodType | undefined, name: readonly string[] = []): string[] {
  if (schema === undefined || name.length > 8) return []
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'string':
      return [name.join('.')]
    case 'object':
      return Object.entries(def.shape).flatMap(([key, inner]) => stringsOf(inner, [...name, key]))
    case 'array':
      return stringsOf(def.element, name)
    case 'record':
      return stringsOf(def.valueType, name)
    case 'union':
      return def.options.flatMap((option) => stringsOf(option, name))
    case 'pipe':
      return [...stringsOf(def.in, name), ...stringsOf(def.out, name)]
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return stringsOf(def.innerType, name)
    default:
      return []
  }
}

const places = API.flatMap((contract) =>
  [...new Set(stringsOf(contract.body?.schema))]
    .filter((name) => PLACE.test(name.split('.').at(-1) ?? ''))
    .map((name) => ({ contract, name, id: `${contract.id} body ${name}` }))
    .filter(({ id }) => !NO_PLACES.includes(id)),
)

async function answerTo(contract: RouteContract, change: (request: ReturnType<typeof requestOf>) => object) {
  const request = requestOf(contract)
  return (isForOperator(contract) ? guarded : server).inject({ ...request, ...change(request) })
}

async function refusalOf(contract: RouteContract, change: Parameters<typeof answerTo>[1]): Promise<string> {
  const answer = await answerTo(contract, change)
  const { code, message } = ApiError.strict().parse(answer.json())
  return `${answer.statusCode} ${code}: ${message}`
}

const withField = (name: string, value: string) => (request: ReturnType<typeof requestOf>) => ({
  payload: JSON.stringify({ ...(JSON.parse(request.payload ?? '{}') as object), [name]: value }),
  headers: { ...request.headers, 'content-type': 'application/json' },
})

test('they are these', () => {
  expect(places.map(({ id }) => id).toSorted()).toEqual([
    'v2.management.repositories.create body path',
    'v2.management.workspaces.create body root',
    'v2.management.workspaces.update body root',
    'v2.plugins.lsp.touch body directory',
    'v2.plugins.lsp.touch body file',
    'v2.plugins.pty.create body cwd',
    'v2.plugins.pty.update body cwd',
    'v2.plugins.vcs.apply body directory',
    'v2.plugins.workflows.create body directory',
    'v2.plugins.workflows.patch body directory',
    'v2.plugins.workflows.update body directory',
    'v2.sessions.export body workspaceRoot',
    'v2.sessions.update body directory',
  ])
})

test.each(places)('$id with a NUL is refused, and nothing else is found wrong with it', async ({ contract, name }) => {
  const refusal = await refusalOf(contract, withField(name, '/a\0b'))
  expect(refusal).toBe(`400 request.invalid: body.${name}: must not contain a NUL character`)
  expect((await answerTo(contract, withField(name, '/ab'))).body, 'control').not.toContain('NUL')
})

const inAddress = (contract: RouteContract) => [
  ...[...contract.path.matchAll(/\{(\w+)\}/g)].map(([place, name]) => ({ contract, what: `path ${name}`, place, name: '' })),
  ...stringsOf(contract.query).map((name) => ({ contract, what: `query ${name}`, place: '', name })),
]

describe.each(API.flatMap((contract) => inAddress(contract).map((each) => [`${contract.id} ${each.what}`, each] as const)))(
  '%s',
  (_, { contract, place, name }) => {
    test('with a NUL is refused', async () => {
      const refusal = await refusalOf(contract, ({ url }) => {
        const [path = '', query = ''] = url.replaceAll('//', '/any/').split('?')
        if (place !== '')
          return { url: [path.split('/').with(contract.path.split('/').indexOf(place), 'a%00b').join('/'), query].join('?') }
        const fields = new URLSearchParams(query)
        fields.set(name, '/a\0b')
        return { url: `${path}?${fields.toString()}` }
      })
      expect(refusal).toMatch(/^400 request\.invalid: .*(?:a NUL|control) character/)
    })
  },
)
