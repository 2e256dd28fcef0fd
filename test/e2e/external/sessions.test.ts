// Holds subsystems l.4, sessions-events §2.2, threat-model §4.12.
/** Sessions that an external agent answers, on the built program with an agent of the official library. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { makePlace } from '../server/place.js'
import { descendants, untilNone } from '../server/processes.js'
import { durable, rebuild } from '../server/transcript.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { bundledAgent } from '../../fixtures/agents/bundled.js'

const AGENT = bundledAgent('working')

/** Of all tests that need no start of their own: each has a place, where its agent finds what is peculiar to it. */
let house: Scene
let shared: Server
let scene: Scene
let server: Server
let notes: string
const OURS = JSON.stringify([process.execPath, AGENT, 'beside'])
const COMMAND = { SVC_EXTERNAL_CODEX_COMMAND: OURS, SVC_EXTERNAL_CLAUDE_COMMAND: OURS }
beforeAll(async () => {
  house = openScene(makePlace())
  shared = await house.start(COMMAND)
})
afterAll(() => house.close())
beforeEach(() => {
  scene = openScene(makePlace())
  notes = join(scene.place.root, 'notes')
  server = shared.in(scene.place.repo)
})
afterEach(() => scene.close())

/** A server of its own, for what is stopped in the test. */
async function begin(): Promise<void> {
  server = await scene.start(COMMAND)
}

/** From the next start of the agent on. */
function become(how: string): void {
  writeFileSync(join(scene.place.root, 'how'), how)
}

const heard = (): { readonly heard: string; readonly text?: string; readonly sessionId?: string }[] =>
  existsSync(notes)
    ? readFileSync(notes, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { heard: string })
    : []
const create = (body: object = {}) => server.createSession({ externalProvider: 'codex', ...body })
const settled = async (id: string) => expect((await server.call('POST', `/v2/sessions/${id}/wait`)).status).toBeLessThan(300)

/** The answer to a prompt of these lines, once the turn is over. */
async function answer(id: string, ...lines: string[]): Promise<Message> {
  await server.prompt(id, { prompt: lines.join('\n') })
  await settled(id)
  return last(id)
}

async function last(id: string): Promise<Message> {
  const message = (await server.messages(id)).at(-1)
  if (message === undefined) throw new Error('nothing was said')
  return message
}

const textOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
/** Texts and thoughts, and the tools of calls. */
const inOrder = (message: Message | undefined) =>
  (message?.parts ?? []).flatMap((part) =>
    part.type === 'text' || part.type === 'reasoning' ? [part.text] : part.type === 'tool' ? [part.tool] : [],
  )
const callsOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'tool' ? [part] : []))
const asked = async () => server.get<PermissionRequest[]>('/v2/interactions/permissions')
const question = async (): Promise<PermissionRequest> => {
  await expect.poll(async () => (await asked()).length).toBe(1)
  const [request] = await asked()
  if (request === undefined) throw new Error('nothing is asked')
  return request
}
const reply = (id: string, body: object) => server.call('POST', `/v2/interactions/permissions/${id}/reply`, body)

async function expectNobody(): Promise<void> {
  expect(await untilNone(() => descendants(server.pid).filter(({ command }) => command.includes('working.cjs')))).toEqual([])
}

describe('a session on an external agent', () => {
  test('is made, prompted, told what is said and thought, and its agent is gone after each turn', async () => {
    const session = await create()
    expect(session).toMatchObject({
      agent: 'codex',
      model: { providerId: 'external', id: 'codex' },
      externalAgent: { runtime: 'acp', provider: 'codex', agent: 'codex', status: 'created' },
    })
    const message = await answer(session.id, 'think hm', 'say hello', 'later  world')
    expect(message.info).toMatchObject({ role: 'assistant', finish: 'stop', modelId: 'codex', providerId: 'external', agent: 'codex' })
    expect(textOf(message)).toBe('hello world')
    expect(message.parts).toContainEqual(expect.objectContaining({ type: 'reasoning', text: 'hm' }))
    expect(await server.get<Session>(`/v2/sessions/${session.id}`)).toMatchObject({ externalAgent: { status: 'completed' } })
    await expectNobody()
    for (const place of [JSON.stringify(await server.messages(session.id)), JSON.stringify(session), server.stderr()])
      expect(place).not.toContain('agent-session-1')
  })

  test('loads what the agent knows of it in the next turn, also after a restart, and shows none of it again', async () => {
    await begin()
    const { id } = await create()
    await answer(id, 'say one')
    await server.stop()
    await begin()
    expect(textOf(await answer(id, 'say two'))).toBe('two')
    expect(heard().map((one) => one.heard)).toEqual([
      'initialize',
      'session/new',
      'session/prompt',
      'initialize',
      'session/load',
      'session/prompt',
    ])
    expect(heard().find((one) => one.heard === 'session/load')?.sessionId).toBe('agent-session-1')
  })

  test('whose agent cannot open it again tells it what was said, bounded, and goes on', async () => {
    become('forgets')
    const { id } = await create()
    await answer(id, `say ${'x'.repeat(100_000)}`)
    await answer(id, 'run ls', 'say one')
    expect(textOf(await answer(id, 'say two'))).toBe('two')
    const [first, , third] = heard().filter((one) => one.heard === 'session/prompt')
    expect(first?.text).toBe(`say ${'x'.repeat(100_000)}`)
    expect(third?.text).toMatch(
      /\{"by":"user","text":"run ls\\nsay one"\}\n\{"by":"you","text":"one","calls":\["execute: ls"\]\}\n\nsay two$/,
    )
    expect(third?.text?.length).toBeLessThan(40_000)
    expect(heard().filter((one) => one.heard === 'session/new')).toHaveLength(3)
  })

  test.each([
    ['lost', 'there is no such session'],
    ['vague', 'Internal error: the store is of an older version.'],
  ])('whose agent has %s it fails the turn and keeps what was said', async (how, why) => {
    const { id } = await create()
    await answer(id, 'say one')
    become(how)
    const message = await answer(id, 'say two')
    expect(message.info).toMatchObject({ error: { message: expect.stringContaining(why) as string } })
    expect((await server.messages(id)).map(textOf)).toContain('one')
  })

  test('chooses what was chosen, and refuses what is not offered', async () => {
    const refused = await server.call('POST', '/v2/sessions', { externalProvider: 'codex', externalOptions: { model: 'huge' } })
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('"huge"') as string } })
    const { id } = await create({ externalOptions: { model: 'large' } })
    await answer(id, 'say hello')
    expect(heard().filter((one) => one.heard === 'session/set_config_option')).toMatchObject([{ value: 'large' }, { value: 'large' }])
  })

  test('that is aborted cancels its prompt; one that does not end it is ended', async () => {
    const { id } = await create()
    for (const word of ['wait', 'hang']) {
      await server.prompt(id, { prompt: `say partial\n${word}` })
      await expect.poll(async () => textOf(await last(id))).toBe('partial')
      expect((await server.call('POST', `/v2/sessions/${id}/abort`)).body).toBe(true)
      await settled(id)
      const message = await last(id)
      expect([textOf(message), message.info]).toMatchObject(['partial', { error: { message: 'Session aborted' } }])
    }
    await expect.poll(() => heard().filter((one) => one.heard === 'session/cancel').length).toBe(2)
    expect(textOf(await answer(id, 'say again'))).toBe('again')
    await expectNobody()
  })

  test('whose agent dies keeps what it said, and says how it died', async () => {
    const { id } = await create()
    const message = await answer(id, 'say half', 'die')
    expect(textOf(message)).toBe('half')
    expect(message.info).toMatchObject({
      error: {
        message: expect.stringMatching(/The agent "codex" has failed: its program has ended with code 5.* the last words/s) as string,
      },
    })
    expect(await server.get<Session>(`/v2/sessions/${id}`)).toMatchObject({ externalAgent: { status: 'error' } })
    expect(textOf(await answer(id, 'say whole'))).toBe('whole')
  })

  test('has its own calls shown, its plan as todos, and what it has cost', async () => {
    const { id } = await create()
    const message = await answer(id, 'run ls', 'prints make', 'plan Tidy up', 'usage 0.5', 'say done')
    expect(callsOf(message)).toMatchObject([
      { tool: 'execute', callId: 'ls', state: { status: 'completed', input: { command: 'ls' }, output: 'ran ls', title: 'ls' } },
      { tool: 'execute', callId: 'make', state: { status: 'completed', output: 'first second' } },
    ])
    expect(await server.get(`/v2/sessions/${id}/todos`)).toEqual([{ content: 'Tidy up', status: 'in_progress', priority: 'high' }])
    expect(message.info).toMatchObject({ cost: 0.5, tokens: { total: 1200 } })
    expect((await answer(id, 'usage 0.75', 'say more')).info).toMatchObject({ cost: 0.25 })
  })

  test('costs what its agent tells, where that counts anew whenever it is started', async () => {
    const { id } = await create({ externalProvider: 'claude' })
    for (const cost of [0.5, 0.75, 0.25]) expect((await answer(id, `usage ${cost}`)).info).toMatchObject({ cost })
  })

  test('shows what is said and what is called in the order in which it came: live, kept, and after a restart', async () => {
    await begin()
    const { id } = await create()
    const stream = await server.stream()
    const lines = ['run ls', 'say one', 'say  more', 'think hm', 'say two', 'shell echo x', 'run pwd', 'say three']
    const expected = ['execute', 'one more', 'hm', 'two', 'bash', expect.stringMatching(/^\[0 false x/), 'execute', 'three']
    expect(inOrder(await answer(id, ...lines))).toEqual(expected)
    await stream.idle(id)
    for (const events of [stream.events, durable(stream.events)]) expect(inOrder(rebuild(events, id).at(-1))).toEqual(expected)
    stream.close()
    await server.stop()
    await begin()
    expect(inOrder(await last(id))).toEqual(expected)
  })

  test.each([
    ['once', 'yes'],
    ['always', 'yes'],
    ['reject', 'no'],
  ])('asks for what its agent asks for: %s chooses "%s"', async (how, option) => {
    const { id } = await create()
    await server.prompt(id, { prompt: 'ask make' })
    const request = await question()
    expect(request).toMatchObject({ sessionId: id, permission: 'external_agent', patterns: ['execute: make'], title: 'codex: make' })
    expect((await reply(request.id, { reply: how })).status).toBe(200)
    await settled(id)
    const message = await last(id)
    expect(textOf(message)).toContain(`"optionId":"${option}"`)
    expect(callsOf(message)).toMatchObject([{ callId: 'ask-make', state: { status: option === 'yes' ? 'completed' : 'error' } }])
    if (how !== 'always') return
    expect(textOf(await answer(id, 'ask make'))).toContain('"optionId":"yes"')
  })

  test('is not asked for what a rule denies, and a question ends with an abort', async () => {
    const { id } = await create({ permission: [{ permission: 'bash', pattern: 'rm *', action: 'deny' }] })
    expect(textOf(await answer(id, 'ask rm -r .'))).toContain('"optionId":"no"')
    await server.prompt(id, { prompt: 'ask make' })
    await question()
    await server.call('POST', `/v2/sessions/${id}/abort`)
    await settled(id)
    expect(await asked()).toEqual([])
  })

  test('is judged by the place of what it would change, and asked where its words would stand for more', async () => {
    const allowed = ['external_agent', 'edit', 'bash'].map((permission) => ({ permission, pattern: '*', action: 'allow' }))
    const { id } = await create({ permission: [...allowed, { permission: 'external_directory', pattern: '*', action: 'deny' }] })
    expect(textOf(await answer(id, `alter ${join(scene.place.repo, 'README.md')}`))).toContain('"optionId":"yes"')
    symlinkSync(scene.place.home, join(scene.place.repo, 'linked'))
    for (const path of [
      join(scene.place.home, 'notes'),
      `${scene.place.repo}/../notes`,
      '../notes',
      join(scene.place.repo, 'linked/notes'),
    ])
      expect([path, textOf(await answer(id, `alter ${path}`))]).toEqual([path, expect.stringContaining('"optionId":"no"')])
    expect(textOf(await answer(id, 'ask make all'))).toContain('"optionId":"yes"')
    await server.prompt(id, { prompt: 'ask make *' })
    expect((await reply((await question()).id, { reply: 'reject' })).status).toBe(200)
    await settled(id)
    expect(textOf(await last(id))).toContain('"optionId":"no"')
  })

  test('reads and writes inside its directory, by its rules, and what is written can be undone', async () => {
    const { id } = await create({ permission: [{ permission: 'edit', pattern: '*.lock', action: 'deny' }] })
    const at = (name: string) => join(scene.place.repo, name)
    writeFileSync(join(scene.place.home, 'secret'), 'hidden')
    const said = textOf(
      await answer(
        id,
        `read ${at('README.md')}`,
        `write ${at('README.md')} changed`,
        `write ${at('a.lock')} x`,
        `read ${join(scene.place.home, 'secret')}`,
        `read ${scene.place.repo}/none/../../${basename(scene.place.home)}/secret`,
        `write ${join(scene.place.home, 'new')} x`,
        'odd',
      ),
    )
    expect(said).toContain('[hello\n][written][refused: A permission rule denies edit for a.lock.]')
    expect(said.match(/outside the directory/g)).toHaveLength(3)
    expect(said).not.toContain('hidden')
    expect(scene.place.read('README.md')).toBe('changed')
    expect((await server.call('POST', `/v2/sessions/${id}/undo`, {})).status).toBe(200)
    expect(scene.place.read('README.md')).toBe('hello\n')
  })

  test('tells of what its agent changed by itself, which undo does not cover', async () => {
    const { id } = await create()
    for (const line of [`edits ${join(scene.place.repo, 'README.md')}`, `both ${join(scene.place.repo, 'README.md')} written twice`]) {
      await answer(id, line)
      expect([line, await server.call('POST', `/v2/sessions/${id}/undo`, {})]).toMatchObject([
        line,
        { status: 409, body: { message: expect.stringContaining('has changed files itself') as string } },
      ])
    }
  })

  test('tells of what its agent changed by itself before it had the same written, too', async () => {
    const { id } = await create()
    scene.place.write('made.txt', 'same')
    const path = join(scene.place.repo, 'made.txt')
    expect(textOf(await answer(id, `write ${path} same`, `edits ${path}`))).toBe('[written]')
    expect((await server.call('POST', `/v2/sessions/${id}/undo`, {})).status).toBe(409)
  })

  test('has no other agent, no model of ours, no copy, and nothing to compact', async () => {
    const { id } = await create()
    const calls: [string, string, object][] = [
      ['POST', '/v2/sessions', { externalProvider: 'codex', agent: 'build' }],
      ['POST', '/v2/sessions', { externalProvider: 'gemini' }],
      ['POST', '/v2/sessions', { externalOptions: {} }],
      ['POST', `/v2/sessions/${id}/prompt`, { prompt: 'say x', agent: 'plan' }],
      ['POST', `/v2/sessions/${id}/prompt`, { prompt: 'say x', model: { providerId: 'svc', modelId: 'offline' } }],
    ]
    for (const [method, path, body] of calls) expect([body, (await server.call(method, path, body)).status]).toEqual([body, 400])
    const plain = await server.createSession()
    const foreign = { prompt: 'say x', model: { providerId: 'external', modelId: 'codex' } }
    expect((await server.call('POST', `/v2/sessions/${plain.id}/prompt`, foreign)).status).toBe(400)
    for (const [method, path, body] of [
      ['POST', `/v2/sessions/${id}/fork`, {}],
      ['POST', `/v2/sessions/${id}/summarize`, {}],
      ['PATCH', `/v2/sessions/${id}`, { agent: 'build' }],
      ['POST', `/v2/plugins/dev.svc.goals/${id}`, { text: 'Tidy up' }],
    ] as const)
      expect([path, (await server.call(method, path, body)).status]).toEqual([path, 422])
    expect(heard()).toEqual([])
  })

  test('whose agent ends for a reason of its own ends with it, and is not asked to go on', async () => {
    const { id } = await create()
    expect((await answer(id, 'stop max_tokens')).info).toMatchObject({ finish: 'max-tokens' })
    expect((await answer(id, 'stop refusal')).info).toMatchObject({ finish: 'content-filter' })
    expect(heard().filter((one) => one.heard === 'session/prompt')).toHaveLength(2)
  })

  test('runs commands for its agent, by its rules, and stops what is left when the turn ends', async () => {
    const { id } = await create({ permission: [{ permission: 'bash', pattern: 'rm *', action: 'deny' }] })
    const message = await answer(id, 'shell echo hello', 'shell exit 3', 'shell rm -r .', 'leaves exec sleep 600', 'say over')
    const said = textOf(message)
    expect(said).toContain('[0 false hello')
    expect(said).toContain('[3 ')
    expect(said).toContain('[126 false A permission rule denies bash')
    expect(said).toContain('over')
    expect(callsOf(message).map(({ tool, state }) => [tool, state.status])).toEqual([
      ['bash', 'completed'],
      ['bash', 'error'],
      ['bash', 'error'],
      ['bash', 'error'],
    ])
    await expectNobody()
  })

  test('tells what may be chosen, and chooses it from the next turn on', async () => {
    const { id } = await create()
    const path = `/v2/sessions/${id}/external/options`
    expect((await server.call('GET', path)).body).toMatchObject({
      provider: 'codex',
      selectedOptions: { model: 'small' },
      externalSessionId: null,
    })
    expect(await server.call('POST', path, { configId: 'model', value: 'large' })).toMatchObject({
      status: 200,
      body: { selectedOptions: { model: 'large' }, externalSessionId: null },
    })
    for (const wrong of [{ configId: 'model', value: 'huge' }, { configId: 'none', value: 'a' }, { configId: 'model' }])
      expect([wrong, (await server.call('POST', path, wrong)).status]).toEqual([wrong, 400])
    await answer(id, 'say hello')
    await answer(id, 'say again')
    const turns = heard().map((one) => one.heard)
    expect(turns.slice(turns.indexOf('session/prompt') - 3)).toEqual([
      'initialize',
      'session/new',
      'session/set_config_option',
      'session/prompt',
      'initialize',
      'session/load',
      'session/set_config_option',
      'session/prompt',
    ])
    const plain = await server.createSession()
    expect((await server.call('GET', `/v2/sessions/${plain.id}/external/options`)).status).toBe(422)
    expect((await server.call('GET', '/v2/sessions/ses_none/external/options')).status).toBe(404)
  })

  test('is what a task works in that is delegated to the agent: asked for, told of, and stopped with what waits for it', async () => {
    const parent = await server.createSession()
    const part = (prompt: string) => ({ type: 'subtask', prompt, description: 'Tidy up', agent: 'codex' })
    const delegated = async (prompt: string, how: string) => {
      await server.prompt(parent.id, { parts: [part(prompt)] })
      const [first] = [await question()]
      expect(first).toMatchObject({ permission: 'external_agent', patterns: ['task: codex'] })
      expect((await reply(first.id, { reply: how })).status).toBe(200)
    }
    const tasks = () =>
      server.get<{ id: string; status: string; agent: string; result?: string }[]>(
        `/v2/plugins/dev.svc.subagents/sessions/${parent.id}/tasks`,
      )
    await delegated('say never', 'reject')
    await settled(parent.id)
    expect(await tasks()).toEqual([])
    expect(heard()).toEqual([])
    await delegated('say tidied', 'once')
    await expect.poll(async () => (await tasks()).map(({ status }) => status)).toEqual(['completed'])
    const [task] = await tasks()
    expect(task).toMatchObject({ agent: 'codex', result: 'tidied' })
    expect(await server.get<Session>(`/v2/sessions/${task?.id}`)).toMatchObject({
      parentId: parent.id,
      title: 'Tidy up (@codex external)',
      agent: 'codex',
      externalAgent: { provider: 'codex', status: 'completed' },
    })
    await settled(parent.id)
    await delegated('say partial\nwait', 'once')
    await expect.poll(async () => (await tasks()).map(({ status }) => status)).toEqual(['running', 'completed'])
    await expect.poll(() => heard().filter((one) => one.heard === 'session/prompt').length).toBe(2)
    await server.call('POST', `/v2/plugins/dev.svc.subagents/sessions/${parent.id}/stop`, {})
    expect((await tasks()).map(({ status }) => status)).toEqual(['stopped', 'completed'])
    await expectNobody()
  })

  test('goes on with a session that its agent had before, once', async () => {
    expect((await server.call('GET', '/v2/sessions/external/catalog?provider=codex')).body).toEqual({
      provider: 'codex',
      cwd: scene.place.repo,
      sessions: [{ externalSessionId: 'earlier', title: 'An earlier one' }],
      importSupported: true,
    })
    const take = (externalSessionId: string) =>
      server.call('POST', '/v2/sessions/external/import', { provider: 'codex', externalSessionId })
    expect((await take('elsewhere')).status).toBe(404)
    const { status, body } = await take('earlier')
    expect([status, body]).toMatchObject([200, { title: 'An earlier one', externalAgent: { provider: 'codex' } }])
    expect((await take('earlier')).status).toBe(409)
    expect(textOf(await answer((body as Session).id, 'say on'))).toBe('on')
    expect(heard().find((one) => one.heard === 'session/load')).toMatchObject({ sessionId: 'earlier' })
  })
})
