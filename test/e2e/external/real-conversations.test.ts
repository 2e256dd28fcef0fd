// Holds subsystems l.4.
/** Conversations with agents of others as they come from their makers, on the built program: each test says which of them did it. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { REAL_AGENTS, type RealAgent, whyNoAgent } from '../../fixtures/agents/real-agents.js'
import { type Act, askedFor, realModel } from '../../fixtures/agents/real-model.js'
import { createGate, type ModelServer, startModelServer } from '../../fixtures/model-server.js'
import { PATIENCE } from '../../fakes/patience.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace } from '../server/place.js'
import { descendants, mentioning, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'

let scene: Scene
let model: ModelServer
let server: Server
let agent: RealAgent
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

async function begin(provider: RealAgent['provider'], works: Readonly<Record<string, Act>>, body: object = {}): Promise<string> {
  model = await startModelServer(realModel(works))
  agent = REAL_AGENTS.find((each) => each.provider === provider) as RealAgent
  server = await scene.start(agent.env(model.url, scene.place))
  return (await server.createSession({ externalProvider: provider, ...body })).id
}

// Their programs take up to a minute to start where a machine is busy, and each test starts them several times.
vi.setConfig({ testTimeout: 8 * PATIENCE })

const at = (name: string) => join(scene.place.repo, name)
const settled = async (id: string) => expect((await server.call('POST', `/v2/sessions/${id}/wait`)).status).toBeLessThan(300)
async function last(id: string): Promise<Message> {
  const message = (await server.messages(id)).at(-1)
  if (message === undefined) throw new Error('nothing was said')
  return message
}
async function answer(id: string, work: string): Promise<Message> {
  await server.prompt(id, { prompt: `do ${work}` })
  await settled(id)
  return last(id)
}
const textOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const callsOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'tool' ? [part] : []))
async function reply(how: string): Promise<PermissionRequest> {
  const asked = () => server.get<PermissionRequest[]>('/v2/interactions/permissions')
  await expect.poll(async () => (await asked()).length, { timeout: 2 * PATIENCE }).toBe(1)
  const request = (await asked())[0] as PermissionRequest
  expect((await server.call('POST', `/v2/interactions/permissions/${request.id}/reply`, { reply: how })).status).toBe(200)
  return request
}
const itsPrograms = () => [
  ...descendants(server.pid).filter(({ command }) => !command.includes('svc-reaper')),
  // Other tests have theirs.
  ...mentioning(scene.place.root).filter(({ command }) => command.includes(agent.folder)),
]
/** It is found twice, below the server and by its place, and may have ended by itself since then. */
const kill = (pid: number) => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' })
  }
}
const expectNobody = async () => expect(await untilNone(itsPrograms)).toEqual([])

const skipped = (provider: RealAgent['provider']) => {
  const why = whyNoAgent(provider)
  return { isSkipped: why !== undefined, note: why === undefined ? '' : ` (skipped: ${why})` }
}

const hasSandbox = whyNoBubblewrap() === undefined

for (const provider of ['opencode', 'codex'] as const) {
  const { isSkipped, note } = skipped(provider)
  describe.skipIf(isSkipped)(`${provider}${note}`, () => {
    // The others hold their turns outside of it.
    test(`${provider} answers in the sandbox where there is one, goes on after a restart of svc with what was said, and nothing of it is left after a turn`, async () => {
      scene.place.configure({ permission: { sandbox: hasSandbox ? 'on' : 'off' } })
      const id = await begin(provider, { talk: { say: 'Hello from the model.' }, more: { say: 'Once more.' } })
      const first = await answer(id, 'talk')
      expect([textOf(first), first.info]).toMatchObject([
        expect.stringContaining('Hello from the model.'),
        { finish: 'stop', providerId: 'external', modelId: provider, tokens: { input: 100, output: 20 } },
      ])
      await expectNobody()
      await server.stop()
      server = await scene.start(agent.env(model.url, scene.place))
      const more = await answer(id, 'more')
      expect([textOf(more), more.info]).toMatchObject([expect.stringContaining('Once more.'), { finish: 'stop' }])
      const asked = JSON.stringify(askedFor(model, 'more').at(-1)?.body)
      for (const said of ['do talk', 'Hello from the model.', 'do more']) expect(asked).toContain(said)
      await expectNobody()
    })

    test(`${provider} is aborted in the middle, and killed in the middle: what it said stays with the reason, and the next prompt goes on`, async () => {
      const gate = createGate()
      const works = { story: { say: 'Once upon', gate }, tale: { say: 'There was', gate }, more: { say: 'Once more.' } }
      const id = await begin(provider, works)
      const started = async (work: 'story' | 'tale') => {
        await server.prompt(id, { prompt: `do ${work}` })
        await expect.poll(async () => textOf(await last(id))).toContain(works[work].say)
      }
      const ended = async (work: 'story' | 'tale', message: string) => {
        await settled(id)
        const said = await last(id)
        expect([textOf(said), said.info]).toMatchObject([
          expect.stringContaining(works[work].say),
          { error: { message: expect.stringContaining(message) as string } },
        ])
        await expectNobody()
      }
      await started('story')
      expect((await server.call('POST', `/v2/sessions/${id}/abort`)).body).toBe(true)
      await ended('story', 'Session aborted')
      expect(await askedFor(model, 'story').at(-1)?.ended).toBe('cut')

      await started('tale')
      for (const { pid, parent } of itsPrograms()) if (parent === server.pid) kill(pid)
      await ended('tale', `The agent "${provider}" has failed: its program was ended by SIGKILL`)
      expect(await server.get<Session>(`/v2/sessions/${id}`)).toMatchObject({ externalAgent: { status: 'error' } })
      expect(await server.statuses()).toEqual({})
      gate.open()
      expect(textOf(await answer(id, 'more'))).toContain('Once more.')
    })
  })
}

const opencode = skipped('opencode')
describe.skipIf(opencode.isSkipped)(`opencode at work${opencode.note}`, () => {
  const write = (filePath: string) => ({ call: 'write', input: { filePath, content: 'made\n' } })

  test('opencode asks before it writes: refused once nothing is there, allowed once the file is, and undo does not leave it behind unsaid', async () => {
    const id = await begin('opencode', { write: write(at('made.txt')) })
    await server.prompt(id, { prompt: 'do write' })
    const request = await reply('reject')
    expect(request).toMatchObject({ sessionId: id, permission: 'external_agent', patterns: [`edit: ${at('made.txt')}`] })
    await settled(id)
    expect(callsOf(await last(id))).toMatchObject([{ tool: 'edit', state: { status: 'error' } }])
    expect(existsSync(at('made.txt'))).toBe(false)

    await server.prompt(id, { prompt: 'do write' })
    await reply('once')
    await settled(id)
    expect(scene.place.read('made.txt')).toBe('made\n')
    expect(callsOf(await last(id))).toMatchObject([{ tool: 'edit', state: { status: 'completed' } }, { tool: 'write' }])
    const undone = await server.call('POST', `/v2/sessions/${id}/undo`, {})
    expect([undone.status, existsSync(at('made.txt'))]).toEqual(undone.status === 409 ? [409, true] : [200, false])
  })

  test('opencode writes nothing outside of the directory where the rules of svc deny that, and runs a command of its own inside', async () => {
    const permission = [
      { permission: 'external_agent', pattern: '*', action: 'allow' },
      { permission: 'external_directory', pattern: '*', action: 'deny' },
    ]
    mkdirSync(join(scene.place.root, 'beside'))
    const outside = join(scene.place.root, 'beside/made.txt')
    const command = { call: 'bash', input: { command: 'echo ran > ran.txt; pwd', description: 'run' } }
    const id = await begin('opencode', { outside: write(outside), command }, { permission })
    expect(callsOf(await answer(id, 'outside'))).toMatchObject([{ tool: 'edit', state: { status: 'error' } }])
    expect(existsSync(outside)).toBe(false)
    const message = await answer(id, 'command')
    expect(callsOf(message)).toMatchObject([
      { tool: 'execute', state: { status: 'completed', input: { command: 'echo ran > ran.txt; pwd' }, output: `${scene.place.repo}\n` } },
    ])
    expect(scene.place.read('ran.txt')).toBe('ran\n')
  })
})

const codex = skipped('codex')
describe.skipIf(codex.isSkipped)(`codex at work${codex.note}`, () => {
  /** Gives work to a subagent, and waits for it. */
  const delegate: Act = {
    call: 'spawn_agent',
    namespace: 'multi_agent_v1',
    input: { message: 'do look' },
    after: (output) => ({
      call: 'wait_agent',
      namespace: 'multi_agent_v1',
      input: { targets: [/agent_id\W+([\da-f-]{36})/.exec(output)?.[1]], timeout_ms: 30_000 },
    }),
  }

  test('codex asks in the mode in which it asks a person, and does what was answered; what its subagent does is a child session', async () => {
    const escalated = { sandbox_permissions: 'require_escalated', justification: 'It is wished for.' }
    const command = { call: 'exec_command', input: { cmd: 'echo ran > ran.txt', ...escalated } }
    const id = await begin(
      'codex',
      { command, both: { ...command, after: () => delegate }, look: { say: 'Seen by a subagent.' } },
      { externalOptions: { mode: 'read-only' } },
    )
    await server.prompt(id, { prompt: 'do command' })
    expect(await reply('reject')).toMatchObject({ permission: 'external_agent', patterns: [expect.stringMatching(/^execute: /)] })
    await settled(id)
    expect(existsSync(at('ran.txt'))).toBe(false)
    await server.prompt(id, { prompt: 'do both' })
    await reply('once')
    await settled(id)
    expect(scene.place.read('ran.txt')).toBe('ran\n')

    const { items: children } = await server.get<{ readonly items: readonly Session[] }>(`/v2/sessions/${id}/children`)
    expect(children).toMatchObject([{ parentId: id, externalAgent: { provider: 'codex', nested: true, status: 'completed' } }])
    const [child] = children
    expect((await server.messages(child?.id ?? '')).map(({ info }) => info.role)).toEqual(['user', 'assistant'])
    expect(textOf(await last(child?.id ?? ''))).toContain('Seen by a subagent.')
    const calls = callsOf(await last(id))
    expect(calls[0]).toMatchObject({ tool: 'execute', state: { status: 'completed' } })
    expect(calls.filter(({ state }) => JSON.stringify(state).includes(child?.id ?? 'none'))).toMatchObject([
      { state: { status: 'completed', output: expect.stringContaining('Seen by a subagent.') as string } },
    ])
    await expectNobody()
  })
})
