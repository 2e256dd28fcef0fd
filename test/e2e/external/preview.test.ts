// Holds subsystems l, l.1, l.2, l.3, q.9, threat-model §4.12.
/** What may be chosen of an external agent, on the built program with an agent of the official library. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ExternalOptionsPreview } from '../../../src/protocol/external/external.js'
import { bundledAgent } from '../../fixtures/agents/bundled.js'
import { lackingSandbox, whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace } from '../server/place.js'
import { descendants, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const AGENT = bundledAgent('scripted')

/** Of all tests that need no start of their own: each has a place, where its agent finds what it does. */
let house: Scene
let shared: Server
let scene: Scene
let server: Server
let notes: string
beforeAll(async () => {
  house = openScene(makePlace())
  const command = JSON.stringify([process.execPath, AGENT, 'beside'])
  shared = await house.start({ SVC_EXTERNAL_OPENCODE_COMMAND: command, OPENCODE_KEY: 'value-of-the-environment' })
})
afterAll(() => house.close())
beforeEach(() => {
  scene = openScene(makePlace())
  notes = join(scene.place.root, 'started')
  server = shared.in(scene.place.repo)
  rmSync(kept(), { recursive: true, force: true })
})
afterEach(() => scene.close())

/** What the agent of this test does. */
function begin(how: string): void {
  writeFileSync(join(scene.place.root, 'how'), how)
}

const PATH = '/v2/external/options/preview?provider=opencode'
const starts = () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n').length : 0)
const ask = () => server.call('GET', PATH)
const choose = (selectedOptions: unknown) => server.call('POST', PATH, { selectedOptions })
const kept = () => join(house.place.root, 'cache/svc/acp-options-v1')

/** Nothing that a look has started is there any more; the program that ends what outlives a server stays. */
async function expectNobody(): Promise<void> {
  expect(await untilNone(() => descendants(server.pid).filter(({ command }) => !command.includes('svc-reaper')))).toEqual([])
}

describe('a look', () => {
  test('tells options, what is chosen and commands, once: then it is known', async () => {
    begin('fine')
    const first = await ask()
    expect(first.status).toBe(200)
    expect(first.body).toEqual({
      provider: 'opencode',
      configOptions: [
        {
          type: 'select',
          id: 'effort',
          name: 'effort',
          category: 'thought_level',
          currentValue: 'low',
          options: [{ value: 'low', name: 'LOW' }],
        },
        {
          type: 'select',
          id: 'model',
          name: 'model',
          category: 'model',
          currentValue: 'small',
          options: [
            { value: 'small', name: 'SMALL' },
            { value: 'large', name: 'LARGE' },
          ],
        },
      ],
      modeFallback: false,
      selectedOptions: { effort: 'low', model: 'small' },
      externalSessionId: null,
      availableCommands: [{ name: 'compact', description: 'Shorter.', input: { hint: 'how' } }],
    })
    await expectNobody()
    expect((await ask()).body).toEqual(first.body)
    expect(starts()).toBe(1)
  })

  test('chooses a model before what depends on it, and refuses what is not offered then', async () => {
    begin('fine')
    expect((await choose({ effort: 'high', model: 'large' })).body).toMatchObject({ selectedOptions: { model: 'large', effort: 'high' } })
    for (const wrong of [{ effort: 'high' }, { model: 'huge' }, { nothing: 'a' }])
      expect(await choose(wrong)).toMatchObject({ status: 400 })
    for (const malformed of [
      { model: 1 },
      'model',
      null,
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`o${index}`, 'a'])),
    ])
      expect(await choose(malformed)).toMatchObject({ status: 400 })
    expect((await server.call('POST', PATH, { selectedOptions: {}, more: 1 })).status).toBe(400)
  })

  test('refuses a choice that the agent does not keep', async () => {
    begin('keeps')
    expect(await choose({ model: 'large' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('has not taken "large"') as string },
    })
  })

  test('makes an option of modes where an agent knows nothing else', async () => {
    begin('modes')
    expect((await ask()).body).toMatchObject({
      modeFallback: true,
      selectedOptions: { mode: 'ask' },
      configOptions: [{ id: 'mode', category: 'mode' }],
    })
    expect((await choose({ mode: 'code' })).body).toMatchObject({ modeFallback: true, selectedOptions: { mode: 'code' } })
    expect(await choose({ mode: 'fly' })).toMatchObject({ status: 400 })
  })

  test('passes over what is of another session, cannot be read, or answers nothing that was asked', async () => {
    begin('noisy')
    expect((await choose({ model: 'large' })).body).toMatchObject({
      selectedOptions: { model: 'large' },
      availableCommands: [{ name: 'compact' }],
    })
    expect(server.stderr()).not.toMatch(/Error handling notification|unknown request|Invalid message/)
  })

  test('waits a little for commands, which agents tell of after the session', async () => {
    begin('tells-late')
    expect((await ask()).body).toMatchObject({ availableCommands: [{ name: 'compact' }] })
  })

  test('of twenty callers at once is one', async () => {
    begin('fine')
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(starts()).toBe(1)
  })

  test('keeps no session and no environment, on disk or in an answer', async () => {
    begin('fine')
    const { text } = await ask()
    const [file = ''] = readdirSync(kept())
    const stored = readFileSync(join(kept(), file), 'utf8')
    for (const place of [text, stored, server.stderr()]) expect(place).not.toMatch(/session-secret|value-of-the-environment/)
    expect(file).toMatch(/^[0-9a-f]{64}\.json$/)
  })
})

describe('an agent that', () => {
  test.each([
    ['dies at once', 'dies', 'has ended with code 3'],
    ['dies when it is asked', 'dies-later', 'has ended with code 4'],
    ['asks for a file', 'asks', 'it asked for "fs/read_text_file"'],
    ['wants a sign-in', 'refuses', 'sign in first'],
    ['speaks another version', 'other-version', 'does not speak version 1'],
    ['has a value that it does not offer', 'wrong-value', 'a value that it does not offer'],
    ['has one option twice', 'twice', 'two of its options have one id'],
    ['has too many options', 'many', 'cannot be read'],
    ['has options that are no list', 'no-list', 'cannot be read'],
    ['has options of another kind', 'no-select', 'cannot be read'],
    ['floods', 'floods', 'it sent more than 10000 messages'],
    ['never ends its line', 'endless-line', 'it sent a message of more than'],
  ])('%s has failed, is gone, and the server goes on', async (_, how, message) => {
    begin(how)
    const answer = await ask()
    expect(answer).toMatchObject({
      status: 500,
      body: { code: 'external.preview_failed', retryable: true, message: expect.stringContaining(message) as string },
    })
    expect(answer.text).not.toContain('SECRET')
    await expectNobody()
    expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
  })

  test('leaves a process behind is ended with it', async () => {
    begin('leaves-a-child')
    expect((await ask()).status).toBe(200)
    await expectNobody()
  })

  test.each(['hangs-first', 'hangs-session', 'hangs-choice'])('%s ends with the server', async (how) => {
    server = await scene.start({ SVC_EXTERNAL_OPENCODE_COMMAND: JSON.stringify([process.execPath, AGENT, how, notes]) })
    const asked = choose({ model: 'large' }).catch(() => undefined)
    await expect.poll(starts).toBe(1)
    const [agent] = readFileSync(notes, 'utf8').trim().split('\n').map(Number)
    await server.stop()
    await asked
    expect(existsSync(`/proc/${agent}`)).toBe(false)
  })
})

test('what is old is answered at once and marked while it is looked at again', async () => {
  begin('fine')
  const first = (await ask()).body as ExternalOptionsPreview
  const [file = ''] = readdirSync(kept())
  const path = join(kept(), file)
  const age = (ms: number) =>
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), taken: Date.now() - ms }))
  age(599_000)
  expect((await ask()).body).toEqual(first)
  age(601_000)
  expect((await ask()).body).toEqual({ ...first, catalogStale: true })
  await expect.poll(async () => (await ask()).body).toEqual(first)
  expect(starts()).toBe(2)
  writeFileSync(path, '{ half')
  expect((await ask()).body).toEqual(first)
  expect(starts()).toBe(3)
})

test('an agent that is nowhere, and one that nobody knows, are told', async () => {
  server = await scene.start({ SVC_EXTERNAL_CODEX_COMMAND: 'no list', SVC_EXTERNAL_CLAUDE_COMMAND: '["not-a-program-of-anybody"]' })
  const told = async (provider: string) => server.call('GET', `/v2/external/options/preview?provider=${provider}`)
  expect(await told('codex')).toMatchObject({
    status: 422,
    body: { message: 'SVC_EXTERNAL_CODEX_COMMAND must be a JSON array of words, the program first.' },
  })
  expect(await told('claude')).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('not-a-program-of-anybody') as string },
  })
  expect(await told('opencode')).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('SVC_EXTERNAL_OPENCODE_COMMAND') as string },
  })
  for (const provider of ['', 'gemini', '__proto__']) expect(await told(provider)).toMatchObject({ status: 400 })
  expect(await server.call('GET', '/v2/external/options/preview')).toMatchObject({ status: 400 })
})

/** An agent of the workspace's own text, without a library: it tells whether it sees a file of the home. */
const SEES = `
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
const seen = existsSync(process.env.HOME + '/notes') ? 'seen' : 'hidden'
const values = ['seen', 'hidden'].map((value) => ({ value, name: value }))
const notes = { type: 'select', id: 'notes', name: 'Notes', currentValue: seen, options: values }
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  const result = method === 'initialize' ? { protocolVersion: 1 } : { sessionId: 's', configOptions: [notes] }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
}
`

test.skipIf(whyNoBubblewrap() !== undefined).each([
  ['off', 'seen'],
  ['on', 'hidden'],
])(`where the sandbox is %s a file of the home is %s to an agent${lackingSandbox()}`, async (sandbox, notesAre) => {
  scene.place.write('agent.mjs', SEES)
  writeFileSync(join(scene.place.home, 'notes'), 'secret')
  scene.place.configure({ permission: { sandbox } })
  server = await scene.start({ SVC_EXTERNAL_CODEX_COMMAND: JSON.stringify([process.execPath, join(scene.place.repo, 'agent.mjs')]) })
  expect(await server.call('GET', '/v2/external/options/preview?provider=codex')).toMatchObject({
    status: 200,
    body: { selectedOptions: { notes: notesAre } },
  })
})

test('a package that lies in the workspace is not run by a look', async () => {
  const ran = join(scene.place.root, 'ran')
  const folder = join(scene.place.repo, 'node_modules/@agentclientprotocol/codex-acp')
  const bin = join(scene.place.repo, 'node_modules/.bin')
  for (const made of [folder, bin]) mkdirSync(made, { recursive: true })
  const program = `#!/usr/bin/env node\nrequire('node:fs').writeFileSync(${JSON.stringify(ran)}, 'yes')\n`
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: '@agentclientprotocol/codex-acp', version: '2.6.0', bin: { 'codex-acp': 'main.js' } }),
  )
  for (const file of [join(folder, 'main.js'), join(bin, 'codex-acp')]) {
    writeFileSync(file, program)
    chmodSync(file, 0o755)
  }
  const answer = await server.call('GET', '/v2/external/options/preview?provider=codex')
  expect(answer).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('there is no "codex-acp" on the search path') as string },
  })
  expect(existsSync(ran)).toBe(false)
})
