// Holds plugin-protocol §15.
/**
 * The conformance list of `svc plugin test`. A plugin that does the same in each of the four languages passes every check, and fails each of its
 * own that is turned round; a program with one flaw fails the check for it, so that none of the seventeen is empty.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inLanguages } from '../fakes/machine.js'
import { type Home, makeHome } from './program.js'

const FIXTURES = fileURLToPath(new URL('../fixtures/conformance', import.meta.url))
/** In the order of docs/plugins.md. */
const NAMES = [
  'initialize',
  'offers something',
  'tools are described',
  'unknown tool',
  'unknown method',
  'undeclared hook',
  'unknown service, route and provider',
  'event without an id',
  'cancellations',
  'late answers',
  'lines that are no frames',
  'further members',
  'the longest frame',
  'calls at once',
  'owner',
  'clean streams',
  'shutdown',
]
const AFTER = 3

let home: Home
beforeAll(() => {
  home = makeHome()
})
afterAll(() => home.close())

interface Result {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly problem?: string }[]
}

async function check(folder: string, env: Readonly<Record<string, string>> = {}): Promise<Result> {
  const { stdout, stderr } = await home.run(['plugin', 'test', `./${folder}`, '--json'], { env })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Result
}

const failed = ({ checks }: Result) => checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [name]))

const TEXT = 'ü 🚀 "\\ \u0000\u001f\u2028\n'
const VALUE = { list: [1, -2.5, 'a', false, null], nested: { deep: { deeper: [[1]] } }, large: 9007199254740991 }
const provider = (many: number) => ({ providerId: 'counts', modelId: 'one', messages: [{ role: 'user', content: `${many}` }] })
const counted = (many: number) => [
  { type: 'text-start' },
  ...Array.from({ length: many }, (_, index) => ({ type: 'text-delta', delta: `${index + 1}` })),
  { type: 'text-end' },
  { type: 'finish', finish: 'stop' },
]

/** What the fixtures are held to beside the seventeen (plugin-protocol §15.2, §15.3). */
const CHECKS: readonly Readonly<Record<string, unknown>>[] = [
  {
    name: 'asks the host in the middle of a call, and waits',
    tool: 'ask',
    input: { key: 'theme' },
    host: { 'host.config.get': 'dark' },
    asks: ['host.config.get'],
    expect: { output: 'dark' },
  },
  {
    name: 'is told what the host refuses',
    tool: 'ask',
    input: { key: 'theme' },
    host: { 'host.config.get': { $error: 'it is not granted' } },
    error: 'it is not granted',
  },
  {
    name: 'takes what a broker answers out of its output',
    tool: 'sign',
    input: { text: 'a' },
    host: { 'host.secret.use': { output: { signature: 'c2lnbmVk' } } },
    asks: ['host.secret.use'],
    expect: { output: 'c2lnbmVk' },
  },
  {
    name: 'gets every byte of a file',
    tool: 'measure',
    input: { path: 'a' },
    host: { 'host.workspace.read': { $base64: 'AAH/gMOg' } },
    expect: { output: '6' },
  },
  { name: 'keeps every character', tool: 'echo', input: { text: TEXT }, expect: { output: TEXT } },
  { name: 'keeps every value', tool: 'echo', input: { text: 'a', value: VALUE }, expect: { metadata: { back: VALUE } } },
  { name: 'tells why it fails', tool: 'fail', input: { why: 'the wheel is off 🛞' }, error: 'the wheel is off 🛞' },
  { name: 'answers almost a whole frame', tool: 'fill', input: { characters: 1_000_000 }, expect: { title: '1000000' } },
  { name: 'answers more than a frame with an error', tool: 'fill', input: { characters: 1_100_000 }, error: '' },
  { name: 'serves on after that', tool: 'echo', input: { text: 'still here' }, expect: { output: 'still here' } },
  { hook: 'shell.env', context: { cwd: '/' }, value: { A: '1' }, expect: { A: '1', CONFORMS: '1' } },
  { name: 'a hook refuses', hook: 'tool.before', context: { toolId: 'bash' }, value: { command: 'ls' }, error: 'not today' },
  { event: { type: 'session.created', sequence: 7 }, log: 'heard session.created 7' },
  {
    name: 'a route gets its request and gives an answer',
    route: 'back',
    request: { query: { q: ['one'] }, body: VALUE },
    expect: { status: 201, headers: { 'x-asked': 'one' }, body: VALUE },
  },
  { name: 'a stream in order', provider: 'counts', request: provider(60), expect: counted(60) },
  { name: 'a stream that is longer than what may wait', provider: 'counts', request: provider(500), expect: counted(500) },
]

/** The same check, of which something else is expected. */
function turned(each: Readonly<Record<string, unknown>>): object {
  if ('log' in each) return { ...each, log: 'heard nothing' }
  if ('error' in each) return each['error'] === '' ? { ...each, error: 'another error' } : { ...each, error: undefined, expect: {} }
  return 'asks' in each ? { ...each, asks: ['host.event.publish'] } : { ...each, error: 'it fails' }
}

const FILES = {
  lua: ['agent.lua', 'package/agent.lua'],
  python: ['plugin.py', 'package/plugin.py'],
  javascript: ['plugin.mjs', 'package/plugin.js'],
  typescript: ['plugin.ts.txt', 'src/plugin.ts'],
} as const

describe('the whole list', () => {
  test.for(inLanguages('lua', 'typescript', 'javascript', 'python'))(
    'is passed in $language, and every check of it can fail$why',
    async ({ language, why }, { skip }) => {
      skip(why !== '', why)
      const made = await home.run(['plugin', 'init', `./${language}`, '--language', language, '--with', 'tool'])
      expect([made.code, made.stderr]).toEqual([0, ''])
      const root = join(home.workspace, language)
      const [from, to] = FILES[language]
      cpSync(join(FIXTURES, from), join(root, to))
      const manifest = join(root, 'package/svc-plugin.json')
      const asks = '"capabilities": ["config-read", "secret-use", "workspace-read"]'
      writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"capabilities": []', asks))
      const write = (checks: readonly object[]) => writeFileSync(join(root, 'svc-plugin.test.json'), JSON.stringify({ checks }))
      write(CHECKS)
      const whole = await check(language)
      expect(whole.checks.filter(({ problem }) => problem !== undefined)).toEqual([])
      expect(whole.checks.map(({ name }) => name).toSpliced(-AFTER - CHECKS.length, CHECKS.length)).toEqual(NAMES)
      expect(whole.checks).toHaveLength(NAMES.length + CHECKS.length)

      write(CHECKS.map(turned))
      expect(failed(await check(language))).toHaveLength(CHECKS.length)
    },
  )
})

/** Flaws of `flawed.mjs`, by the check that finds each. */
const FLAWS: Readonly<Record<string, readonly string[]>> = {
  initialize: ['another-protocol', 'tools-of-a-text', 'refuses-to-begin', 'ends-at-once'],
  'offers something': ['offers-nothing', 'hook-nobody-calls'],
  'tools are described': ['no-description', 'schema-of-a-text', 'no-schema'],
  'unknown tool': ['answers-any-tool', 'says-little'],
  'unknown method': ['answers-any-method'],
  'undeclared hook': ['drops-nulls', 'empty-value'],
  'unknown service, route and provider': ['lists-any-commands', 'handles-any-route', 'knows-any-provider'],
  'event without an id': ['answers-events', 'dies-of-events'],
  cancellations: ['dies-of-cancellations', 'dies-of-streams'],
  'late answers': ['dies-of-late-answers'],
  'lines that are no frames': ['dies-of-nonsense', 'dies-of-blank-lines', 'dies-of-lists'],
  'further members': ['refuses-further-members'],
  'the longest frame': ['short-frames'],
  'calls at once': ['confuses-calls'],
  owner: ['owner-of-another', 'no-owner'],
  'clean streams': ['prints-first', 'logs-endlessly', 'writes-into-its-package', 'asks-again'],
  shutdown: ['refuses-to-end', 'ends-with-3'],
}
/** Only where nothing contains it can it write into its package. */
const OPEN = { SVC_AGENT_PLUGIN_SANDBOX: 'off' }

async function flawed(flaw: string): Promise<string[]> {
  const root = join(home.workspace, flaw)
  const agent = { runtime: 'process', command: ['node', 'main.mjs', flaw] }
  const manifest = { id: `dev.example.${flaw}`, name: 'Flawed', version: '0.1.0', apiVersion: 1, agent }
  mkdirSync(join(root, 'package'), { recursive: true })
  writeFileSync(join(root, 'package/svc-plugin.json'), JSON.stringify(manifest))
  cpSync(join(FIXTURES, 'flawed.mjs'), join(root, 'package/main.mjs'))
  return failed(await check(flaw, OPEN))
}

describe('a program with one flaw', () => {
  test('without it passes all', async () => {
    expect(await flawed('none')).toEqual([])
  })

  test('is found by each of the seventeen', () => {
    expect(Object.keys(FLAWS)).toEqual(NAMES)
  })

  test.for(Object.entries(FLAWS))('%s', async ([name, flaws]) => {
    const found = await Promise.all(flaws.map(flawed))
    expect(found.map(([first]) => first)).toEqual(flaws.map(() => name))
  })
})
