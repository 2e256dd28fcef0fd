// Holds subsystems l.4, threat-model §4.12.
/**
 * Conversations with agents of others as they come from their makers, on the built program: each test is a turn or two of one session, whose
 * model is scripted. What none of them does is tried with an agent of the official library (`sessions.test.ts`).
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { REAL_AGENTS, whyNoAgent } from '../../fixtures/agents/real-agents.js'
import { type Calls, chatModel, responsesModel } from '../../fixtures/agents/scripted-models.js'
import { type ModelServer, startModelServer } from '../../fixtures/model-server.js'
import { PATIENCE } from '../../fakes/patience.js'
import { makePlace } from '../server/place.js'
import { descendants, type Process, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent } from '../server/stream.js'

/** How the model of each makes it write a file after a question, and run a command after one. */
const CALLS: Readonly<Record<string, Calls>> = {
  opencode: {
    write: (filePath) => ({ name: 'write', input: { filePath, content: 'written\n' } }),
    run: (command) => ({ name: 'bash', input: { command, description: 'Runs it' } }),
  },
  codex: {
    write: (path) => ({ name: 'exec_command', input: escalated(`echo written > ${path}`) }),
    run: (command) => ({ name: 'exec_command', input: escalated(command) }),
  },
}
const escalated = (cmd: string) => ({ cmd, sandbox_permissions: 'require_escalated', justification: 'It is asked for.' })
const MODELS = { opencode: chatModel, codex: responsesModel }
/** Codex asks a person only in this mode, otherwise a model of its own. */
const OPTIONS = { opencode: {}, codex: { mode: 'workspace-write' } }

const textOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const callsOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'tool' ? [part] : []))

for (const { provider, folder, env } of REAL_AGENTS) {
  const why = whyNoAgent(provider)
  describe.skipIf(why !== undefined)(`${provider}${why === undefined ? '' : ` (skipped: ${why})`}`, { timeout: 600_000 }, () => {
    let scene: Scene
    let model: ModelServer
    let server: Server
    let session: Session
    beforeAll(async () => {
      model = await startModelServer(MODELS[provider](CALLS[provider] ?? {}))
      scene = openScene(makePlace())
      server = await scene.start(env(model.url))
      const permission = [{ permission: 'external_directory', pattern: '*', action: 'deny' }]
      session = await server.createSession({ externalProvider: provider, externalOptions: OPTIONS[provider], permission })
    })
    afterAll(async () => {
      await scene.close()
      await model.close()
    })

    const settled = async () => expect((await server.call('POST', `/v2/sessions/${session.id}/wait`)).status).toBeLessThan(300)
    async function last(): Promise<Message> {
      const message = (await server.messages(session.id)).at(-1)
      if (message === undefined) throw new Error('nothing was said')
      return message
    }
    async function answer(prompt: string): Promise<Message> {
      await server.prompt(session.id, { prompt })
      await settled()
      return last()
    }
    /** The answer to a prompt in whose turn everything that is asked for gets the same reply, and what was asked. */
    async function asked(
      prompt: string,
      how: string,
    ): Promise<{ readonly message: Message; readonly requests: readonly PermissionRequest[] }> {
      const stream = await server.stream({ tail: true, sessionId: session.id })
      const requests: PermissionRequest[] = []
      await server.prompt(session.id, { prompt })
      const isNow = (event: AnyEvent, status: string) => event.type === 'session.status' && event.data.status.type === status
      let event = await stream.waitFor((each) => isNow(each, 'busy'))
      for (;;) {
        event = await stream.waitFor((each) => each.type === 'permission.asked' || isNow(each, 'idle'), stream.events.indexOf(event) + 1)
        if (event.type !== 'permission.asked') break
        requests.push(event.data)
        await server.call('POST', `/v2/interactions/permissions/${event.data.id}/reply`, { reply: how })
      }
      stream.close()
      await settled()
      return { message: await last(), requests }
    }
    const running = (): Process[] => descendants(server.pid).filter(({ command }) => command.includes(folder))
    const saysHalf = () => expect.poll(async () => textOf(await last()), { timeout: PATIENCE }).toContain('half')

    test('answers, and is gone when it has', async () => {
      expect(textOf(await answer('say hello'))).toContain('hello')
      expect(await untilNone(running)).toEqual([])
    })

    test('asks before it writes a file inside of the directory, and writes it', async () => {
      const file = join(scene.place.repo, 'made.txt')
      const { message, requests } = await asked(`write ${file}`, 'once')
      expect(requests).toMatchObject([{ permission: 'external_agent', patterns: [expect.stringContaining(file)] }])
      expect([textOf(message), existsSync(file)]).toEqual([expect.stringContaining('All done.'), true])
      expect(callsOf(message)).toContainEqual(
        expect.objectContaining({ state: expect.objectContaining({ status: 'completed' }) as object }),
      )
    })

    test('writes nothing outside of the directory where that is refused', async () => {
      const file = join(scene.place.home, 'outside.txt')
      const { message } = await asked(`write ${file}`, 'reject')
      expect([callsOf(message).map(({ state }) => state.status), existsSync(file)]).toEqual([expect.arrayContaining(['error']), false])
    })

    test('asks before it runs a command, and shows what came of it', async () => {
      const { message, requests } = await asked('run echo one-two', 'once')
      expect(requests).toMatchObject([{ permission: 'external_agent', patterns: ['execute: echo one-two'] }])
      expect(callsOf(message)).toMatchObject([
        {
          tool: 'execute',
          state: { status: 'completed', input: { command: 'echo one-two' }, output: expect.stringContaining('one-two') as string },
        },
      ])
    })

    test('ends its turn when it is aborted', async () => {
      await server.prompt(session.id, { prompt: 'wait' })
      await saysHalf()
      expect((await server.call('POST', `/v2/sessions/${session.id}/abort`)).body).toBe(true)
      await settled()
      expect((await last()).info).toMatchObject({ error: { message: 'Session aborted' } })
      expect(await untilNone(running)).toEqual([])
    })

    test('that is killed fails its turn, keeps what it said, and answers the next prompt', async () => {
      await server.prompt(session.id, { prompt: 'wait' })
      await saysHalf()
      for (const { pid } of running()) process.kill(pid, 'SIGKILL')
      await settled()
      const message = await last()
      expect([textOf(message), message.info]).toMatchObject([
        expect.stringContaining('half'),
        { error: { message: expect.stringContaining(`The agent "${provider}" has failed`) as string } },
      ])
      expect(textOf(await answer('say alive'))).toContain('alive')
    })

    test('goes on with its session after a restart of the server', async () => {
      await server.stop()
      server = await scene.start(env(model.url))
      const before = model.requests.length
      expect(textOf(await answer('say again'))).toContain('again')
      const told = JSON.stringify(model.requests.slice(before).map(({ body }) => body))
      for (const words of ['say hello', 'say alive', 'say again']) expect(told).toContain(words)
      expect(await untilNone(running)).toEqual([])
    })
  })
}
