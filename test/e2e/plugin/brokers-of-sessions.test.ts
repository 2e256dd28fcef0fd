/** What plugins have the host run, read and ask, on the built program: as a program and in Lua, retired in the middle, and after a kill. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ModelServer } from '../../fixtures/model-server.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { subagentRoutes, type SubagentTask } from '../../../src/protocol/session/subagent.js'
import { makePlace, withModel } from '../server/place.js'
import { configurePlugin, untilState } from '../server/plugins.js'
import { processes } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf } from '../server/transcript.js'
import { answersIn, type Ask, asking, contentOf, ID, serveHost, startHostModel } from './host.js'

const UNSANDBOXED = { SVC_AGENT_PLUGIN_SANDBOX: 'off' }
const COST = { cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } }
const CAPABILITIES = [
  'process-spawn',
  'task-spawn',
  'prompt-read',
  'message-read',
  'response-transform',
  'provider-access',
  'policy-invoke',
] as const

const SPAWN: Ask = { method: 'process.spawn', operation: 'spawn', input: { command: ['sh', '-c', 'echo $$; exec sleep 600'] } }
const READ: Ask = { method: 'process.spawn', operation: 'read', input: { opaqueId: '$.opaqueId', waitMs: 5000 } }
const TASK: Ask = { method: 'task.spawn', operation: 'spawn', input: { agent: 'explore', description: 'look', prompt: 'look around' } }
const WAIT: Ask = { method: 'task.spawn', operation: 'wait', input: { opaqueId: '$.opaqueId', waitMs: 8000 } }

let scene: Scene
let model: ModelServer
let server: Server

beforeAll(async () => {
  model = await startHostModel((request) => {
    const last = contentOf(request.body?.messages.findLast(({ role }) => role === 'user')?.['content'])
    return last === 'look around' ? 'It is dark here.' : last === 'why?' ? 'Because.' : 'Done, said the model.'
  })
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, {}, COST))
  server = await scene.start(UNSANDBOXED)
  const hook = "({ value }) => value.replace('said the model', 'SAID THE HOOK')"
  await serveHost(server, scene.place, { capabilities: CAPABILITIES, hooks: { 'response.text': hook } })
})

afterAll(async () => {
  await scene.close()
  await model.close()
})

/** What the tests look into; which of it there is depends on what was asked. */
interface Answer {
  readonly error: string
  readonly sessionId: string
  readonly output: { readonly text: string }[]
  readonly messages: { readonly info: { readonly role: string } }[]
  readonly sessions: { readonly sessionId: string }[]
  readonly open: object
}

async function ask(asks: readonly Ask[], session: object = {}): Promise<{ readonly id: string; readonly answers: Answer[] }> {
  const { id } = await server.createSession(session)
  return { id, answers: (await asking(server, id, asks)) as Answer[] }
}

const isRunning = (pid: number) => processes().some((each) => each.pid === pid)
const pidOf = (answer: Answer | undefined) => {
  const [, pid] = /(\d+)/.exec(answer?.output[0]?.text ?? '') ?? []
  if (pid === undefined) throw new Error(`no process id in ${JSON.stringify(answer)}`)
  return Number(pid)
}

describe('a program', () => {
  test('is run, heard, told and ended', async () => {
    const talk: Ask = {
      method: 'process.spawn',
      operation: 'spawn',
      input: { command: ['sh', '-c', 'read line; echo "got $line"'], stdin: true },
    }
    const { answers } = await ask([
      talk,
      { method: 'process.spawn', operation: 'write', input: { opaqueId: '$.opaqueId', text: 'hello\n', end: true } },
      { method: 'process.spawn', operation: 'wait', input: { opaqueId: '$.opaqueId', waitMs: 8000 } },
      READ,
      SPAWN,
      READ,
      { method: 'process.cancel', opaqueId: '$.opaqueId' },
      { method: 'process.cancel', opaqueId: '$.opaqueId' },
      { method: 'process.spawn', operation: 'list' },
    ])
    expect(answers[0]).toMatchObject({ program: expect.stringMatching(/^\/.*sh$/) as string, sandboxed: false })
    expect(answers[2]).toEqual({ ended: true, exitCode: 0, signal: null, stopped: null })
    expect(answers[3]).toMatchObject({ output: [{ stream: 'stdout', text: 'got hello\n' }], ended: true })
    expect(isRunning(pidOf(answers[5]))).toBe(false)
    expect(answers[6]).toEqual({})
    expect(answers[7]).toEqual({})
    expect(answers[8]).toMatchObject({ processes: [{ command: ['sh', '-c', 'read line; echo "got $line"'], exitCode: 0 }] })
  })

  test('that ignores the signal is killed', async () => {
    const command = ['sh', '-c', "trap '' TERM; echo $$; sleep 600; sleep 600"]
    const { answers } = await ask([
      { ...SPAWN, input: { command } },
      READ,
      { method: 'process.spawn', operation: 'signal', input: { opaqueId: '$.opaqueId', signal: 'SIGTERM' } },
      { method: 'process.spawn', operation: 'close', input: { opaqueId: '$.opaqueId' } },
    ])
    expect([answers[2], answers[3], isRunning(pidOf(answers[1]))]).toEqual([{ sent: true }, { closed: true }, false])
  })

  test('gets no secret of the server, and is found outside of the workspace', async () => {
    scene.place.write('node_modules/.bin/own', '#!/bin/sh\necho own\n')
    const { answers } = await ask([
      { method: 'process.spawn', operation: 'spawn', input: { command: ['env'] } },
      { method: 'process.spawn', operation: 'wait', input: { opaqueId: '$.opaqueId', waitMs: 8000 } },
      READ,
      { method: 'process.spawn', operation: 'spawn', input: { command: ['own'] } },
      { method: 'process.spawn', operation: 'spawn', input: { command: [`${scene.place.repo}/node_modules/.bin/own`] } },
      { method: 'process.spawn', operation: 'spawn', input: { command: ['true'], cwd: '..' } },
    ])
    expect(JSON.stringify(answers[2])).not.toMatch(/SVC_AGENT|TOKEN|API_KEY/)
    expect(answers.slice(3).map(({ error }) => error)).toEqual([
      'the program "own" is not found outside of the workspace',
      expect.stringMatching(/workspace$/) as string,
      'the directory ".." leads out of the workspace',
    ])
  })

  test('that a rule denies to the shell of the session is denied to the plugin it calls', async () => {
    const permission = [{ permission: 'bash', pattern: 'sleep *', action: 'deny' }]
    const { answers } = await ask([{ method: 'process.spawn', operation: 'spawn', input: { command: ['sleep', '600'] } }], { permission })
    expect(answers).toEqual([{ error: 'a permission rule of the agent denies "sleep 600"' }])
  })
})

describe('a task', () => {
  test('is carried out below the session of the call, and told', async () => {
    const { id, answers } = await ask([TASK, WAIT, { method: 'message.read', operation: 'sessions' }])
    const [begun, ended, family] = answers
    expect(begun).toMatchObject({ agent: 'explore', status: 'running', text: null })
    expect(ended).toMatchObject({ status: 'completed', text: 'It is dark here.', usage: { inputTokens: 100, outputTokens: 20 } })
    const child = await server.get<Session>(`/v2/sessions/${begun?.sessionId}`)
    expect([child.parentId, child['delegation']]).toEqual([id, { agent: 'build', refused: [] }])
    expect(family?.sessions.map(({ sessionId }) => sessionId)).toEqual([id, begun?.sessionId])
  })

  test('is never more than the caller may: a denied agent is none, and so is one whose tool is left out', async () => {
    const permission = [{ permission: 'task', pattern: 'explore', action: 'deny' }]
    const { answers } = await ask([TASK], { permission })
    expect(answers).toEqual([{ error: 'a permission rule of the run denies task for explore' }])
    const { id } = await server.createSession()
    const without = await asking(server, id, [TASK], { tools: { task: false } })
    expect(without).toEqual([{ error: 'a permission rule of the run denies task for explore' }])
    const unknown = { ...TASK, input: { ...TASK.input, agent: 'nobody' } }
    expect((await ask([unknown])).answers).toMatchObject([{ error: expect.stringContaining('no agent "nobody"') as string }])
  })
})

describe('what was said', () => {
  test('is read of its own session, prompts of those of its workspace, and never of another', async () => {
    const other = await server.createSession()
    await server.prompt(other.id, { prompt: 'a secret of another session' })
    await server.call('POST', `/v2/sessions/${other.id}/wait`)
    const { id, answers } = await ask([
      { method: 'prompt.read', operation: 'current' },
      { method: 'message.read', operation: 'list', input: { order: 'oldest-first' } },
      { method: 'message.read', operation: 'list', input: { sessionId: other.id } },
      { method: 'prompt.read', operation: 'list', input: { sessionId: other.id } },
    ])
    expect(answers[0]).toMatchObject({ prompt: { sessionId: id, text: expect.stringMatching(/^asks /) as string, agent: 'build' } })
    expect(answers[1]?.messages.map(({ info }) => info.role)).toEqual(['user', 'assistant'])
    expect(answers[2]).toEqual({ error: expect.stringContaining('none of its own') as string })
    expect(answers[3]).toMatchObject({ prompts: [{ text: 'a secret of another session' }] })
  })
})

describe('an answer', () => {
  test('is changed by the hook before it is closed, and by the plugin while it is recorded', async () => {
    const { id, answers } = await ask([
      { method: 'response.transform', operation: 'read' },
      { method: 'response.transform', operation: 'replace', input: { partId: 'prt_unknown', length: 0, text: 'x' } },
    ])
    const open = answers[0]?.open
    expect(open).toMatchObject({ sessionId: id, text: 'Let me see.', length: 11 })
    expect(answers[1]).toEqual({ error: 'the text is closed: it stays as it was recorded' })
    const [, first, second] = await server.messages(id)
    expect([textOf(first), textOf(second)]).toEqual(['Let me see.', 'Done, SAID THE HOOK.'])
  })

  test('is replaced for everybody who reads it', async () => {
    const { id, answers } = await ask([
      { method: 'response.transform', operation: 'read' },
      { method: 'response.transform', operation: 'replace', input: { partId: '$.partId', length: 11, text: 'I see.' } },
      { method: 'response.transform', operation: 'read' },
    ])
    expect(answers.slice(1)).toMatchObject([{ length: 6 }, { open: { text: 'I see.' } }])
    const [, first] = await server.messages(id)
    expect(textOf(first)).toBe('I see.')
  })
})

describe('a model of the user', () => {
  test('is asked within the budget, and counts for the session and the package', async () => {
    const question = { messages: [{ role: 'user', text: 'why?' }] }
    const { id, answers } = await ask([
      { method: 'provider.call', operation: 'models' },
      { method: 'provider.call', operation: 'complete', input: question },
      { method: 'provider.call', operation: 'open', input: question },
      { method: 'provider.call', operation: 'read', input: { opaqueId: '$.opaqueId', waitMs: 8000 } },
      { method: 'provider.call', operation: 'budget' },
    ])
    expect(answers[0]).toMatchObject({
      default: 'test/scripted',
      models: expect.arrayContaining([expect.objectContaining({ model: 'test/scripted' })]) as unknown,
    })
    expect(answers[1]).toEqual({
      text: 'Because.',
      model: 'test/scripted',
      reason: 'stop',
      usage: { inputTokens: 100, outputTokens: 20, reasoningTokens: 0, cachedTokens: 0, cost: 0.00014 },
    })
    expect(answers[3]).toMatchObject({ text: expect.stringMatching(/^B/) as string })
    expect(answers[4]).toMatchObject({ tokens: { used: expect.any(Number) as number } })
    const { usage } = await server.get<{ usage: { tokens: { input: number } } }>(`/v2/sessions/${id}/runtime`)
    const session = await server.get<Session>(`/v2/sessions/${id}`)
    const own = session['pluginUsage'] as { tokens: { input: number } }
    expect(own.tokens.input).toBeGreaterThanOrEqual(100)
    expect(usage.tokens.input).toBe(200 + own.tokens.input)
  })

  test('is refused when the budget that the installation says is used up', async () => {
    configurePlugin(scene.place, ID, (entry) => ({ ...entry, options: { ...(entry['options'] as object), models: { tokensPerDay: 1 } } }))
    await server.call('GET', '/v2/config')
    const { answers } = await ask([
      { method: 'provider.call', operation: 'complete', input: { messages: [{ role: 'user', text: 'why?' }] } },
    ])
    expect(answers).toEqual([{ error: expect.stringMatching(/of the 1 tokens it may use in a day/) as string }])
  })
})

describe('the rules', () => {
  test('say what they would decide, and which rule it is', async () => {
    const permission = [{ permission: 'bash', pattern: 'rm *', action: 'deny' }]
    const { answers } = await ask(
      [{ method: 'policy.call', operation: 'evaluate', input: { permission: 'bash', patterns: ['rm -rf x', 'ls'] } }],
      { permission },
    )
    expect(answers).toMatchObject([
      { decision: 'deny', patterns: [{ pattern: 'rm -rf x', decision: 'deny', by: 'rule', rule: permission[0] }, { pattern: 'ls' }] },
    ])
  })

  test('have the person asked in the name of the plugin', async () => {
    const { id } = await server.createSession({ permission: [{ permission: 'deploy', pattern: '*', action: 'ask' }] })
    const stream = await server.stream({ tail: true, sessionId: id })
    const need = { permission: 'deploy', patterns: ['production'], title: 'deploy to production' }
    const asks: Ask[] = [
      { method: 'policy.call', operation: 'ask', input: need },
      { method: 'policy.call', operation: 'answer', input: { opaqueId: '$.opaqueId', waitMs: 30_000 } },
    ]
    await server.prompt(id, { prompt: `asks ${JSON.stringify(asks)}` })
    const event = await stream.waitFor(
      ({ type, data }) => type === 'permission.asked' && JSON.stringify(data).includes('deploy to production'),
    )
    const request = event.data as { id: string; title: string; metadata: object }
    expect([request.title, request.metadata]).toEqual(['Plugin test.host asks: deploy to production', { plugin: ID }])
    stream.close()
    await server.call('POST', `/v2/interactions/permissions/${request.id}/reply`, { reply: 'once' })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    expect(answersIn(await server.messages(id))).toMatchObject([{ outcome: 'waiting' }, { outcome: 'granted', message: null }])
  })
})

describe('in Lua', () => {
  test('all of it is the same', async () => {
    const other = openScene(makePlace())
    other.place.configure(withModel(model.url, {}, COST))
    try {
      const sandboxed = await other.start(UNSANDBOXED)
      await serveHost(sandboxed, other.place, { capabilities: CAPABILITIES, lua: true })
      const { id } = await sandboxed.createSession()
      const answers = await asking(sandboxed, id, [
        { method: 'process.spawn', operation: 'spawn', input: { command: ['sh', '-c', 'echo hello'] } },
        { method: 'process.spawn', operation: 'wait', input: { opaqueId: '$.opaqueId', waitMs: 8000 } },
        READ,
        TASK,
        WAIT,
        { method: 'prompt.read', operation: 'current' },
        { method: 'message.read', operation: 'list', input: {} },
        { method: 'response.transform', operation: 'read' },
        { method: 'provider.call', operation: 'complete', input: { messages: [{ role: 'user', text: 'why?' }] } },
        { method: 'policy.call', operation: 'evaluate', input: { permission: 'bash', patterns: ['ls'] } },
        { method: 'policy.call', operation: 'nothing' },
      ])
      expect(answers).toMatchObject([
        { sandboxed: false },
        { ended: true, exitCode: 0 },
        { output: [{ stream: 'stdout', text: 'hello\n' }] },
        { status: 'running' },
        { status: 'completed', text: 'It is dark here.' },
        { prompt: { sessionId: id } },
        { messages: [{ info: { role: 'assistant' } }, { info: { role: 'user' } }] },
        { open: { text: 'Let me see.' } },
        { text: 'Because.' },
        { patterns: [{ pattern: 'ls' }] },
        { error: expect.stringContaining('policy-invoke has no operation "nothing"') as string },
      ])
    } finally {
      await other.close()
    }
  })
})

test('what a plugin has opened ends when it is switched off', async () => {
  const { id, answers } = await ask([SPAWN, READ])
  const pid = pidOf(answers[1])
  expect(isRunning(pid)).toBe(true)
  const stream = await server.stream({ tail: true })
  configurePlugin(scene.place, ID, (entry) => ({ ...entry, enabled: false }))
  await server.call('GET', `/v2/sessions/${id}`)
  await server.get('/v2/plugins/lifecycle')
  await untilState(stream, ID, 'disabled')
  await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false)
  configurePlugin(scene.place, ID, ({ enabled: _enabled, ...entry }) => entry)
  const from = stream.events.length
  await server.get('/v2/plugins/lifecycle')
  await untilState(stream, ID, 'active', from)
  stream.close()
})

test('what a plugin has opened is gone after a kill, and a task is not gone on with', async () => {
  const { id } = await server.createSession()
  const asks: Ask[] = [SPAWN, READ, TASK]
  const answers = await asking(server, id, asks)
  const pid = pidOf(answers[1] as Answer)
  expect(isRunning(pid)).toBe(true)
  await server.kill()
  await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false)
  server = await scene.start(UNSANDBOXED)
  const tasks = await server.get<SubagentTask[]>(subagentRoutes.list.path.replace('{session_id}', id))
  expect(tasks.filter(({ status }) => status === 'running' || status === 'pending')).toEqual([])
  expect(await server.statuses()).toEqual({})
})
