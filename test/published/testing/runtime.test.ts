import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { TestRuntimeOptions } from '../../../src/published/testing/runtime-types.js'
import { startTestRuntime } from '../../../src/published/testing/testing.js'
import type { Plugin } from '../../../src/published/kit/plugin-types.js'
import { PATIENCE } from '../../fakes/patience.js'

async function start(options?: TestRuntimeOptions) {
  const svc = await startTestRuntime({ waitMs: PATIENCE, ...options })
  onTestFinished(() => svc.stop())
  return svc
}

const one = (output: string): Plugin => ({
  tools: [{ id: 'one', description: 'x', parameters: { type: 'object' }, execute: () => output }],
})

describe('a runtime', () => {
  test('begins where the clock was put, and leaves nothing behind', async () => {
    const svc = await start({ at: '2026-10-25T00:30:00Z', files: { 'a/b.txt': 'hello' } })
    expect(svc.clock.now).toBe(Date.UTC(2026, 9, 25, 0, 30))
    expect(await svc.files.read('a/b.txt')).toBe('hello')
    const waiting = svc.journal.until('never')
    await svc.stop()
    await svc.stop()
    await expect(waiting).rejects.toThrow('the runtime was stopped')
    expect(existsSync(dirname(svc.directory))).toBe(false)
  })

  test.each([
    [{ at: 'noon' }, '"noon" is no instant; write one such as 2026-10-25T00:30:00Z'],
    [{ files: { '../x': '' } }, '"../x" is not in the workspace; paths of files are relative to it'],
  ])('refuses %j', async (options, message) => {
    await expect(startTestRuntime(options)).rejects.toThrow(message)
  })

  test('lets no time pass backwards', async () => {
    const svc = await start()
    await expect(async () => svc.clock.advance(-1)).rejects.toThrow('time passes forward')
    await expect(async () => svc.clock.advanceTo('2026-01-01T00:00:00Z')).rejects.toThrow('2026-01-01T00:00:00.000Z is past')
  })

  test('works on files with its own tools, and asks where the configuration says so', async () => {
    const svc = await start({ files: { 'notes.txt': 'buy milk' }, config: { permission: { '*': 'allow', read: 'ask' } } })
    const session = await svc.sessions.create()
    svc.model.callsTool('read', { filePath: `${svc.directory}/notes.txt` }).says('Milk.')
    await svc.sessions.prompt(session, 'what is to do?')
    await svc.state({ kind: 'tool-call' }, 'asking')
    const [request] = svc.interactions.permissions()
    expect(request).toMatchObject({ permission: 'read', sessionId: session.id })
    svc.interactions.allow(request ?? { id: '' })
    await svc.sessions.idle(session)
    expect(JSON.stringify(svc.model.requests.at(-1)?.messages)).toContain('buy milk')
  })

  test('runs no program but those that are played', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    svc.programs.answer(({ args }) => (args.at(-1)?.includes('make test') === true ? { stdout: 'all is well', exitCode: 0 } : undefined))
    svc.model
      .callsTool('bash', { command: 'make test', description: 'Tests.' })
      .callsTool('bash', { command: 'make', description: 'Builds.' })
      .says('Done.')
    await svc.sessions.ask(session, 'test it')
    const states = svc.sessions
      .messages(session)
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part.state] : [])))
    expect(states).toMatchObject([
      { status: 'completed', output: expect.stringContaining('all is well') as string },
      { status: 'error', error: expect.stringContaining('no script for') as string },
    ])
    const made = svc.programs.runs.filter(({ args }) => args.at(-1)?.includes('make'))
    expect(made.map(({ cwd }) => cwd)).toEqual([svc.directory, svc.directory])
  })
})

describe('the model', () => {
  test('that has no step left makes waiting for the session fail with what to do', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    await expect(svc.sessions.ask(session, 'hello')).rejects.toThrow(
      "The model was asked for its step 1, and the test gave it 0: add one, such as svc.model.says('Done.').",
    )
  })

  test('may be held, and streams what the test gives it', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    const step = svc.model.waits()
    await svc.sessions.prompt(session, 'hello')
    expect((await step.started).sessionId).toBe(session.id)
    step.streams('Hel')
    step.says('lo.')
    expect(() => step.says('more')).toThrow('it has said its last word')
    await svc.sessions.idle(session)
    expect(svc.sessions.messages(session).at(-1)?.parts).toMatchObject([{ type: 'step-start' }, { type: 'text', text: 'Hello.' }, {}])
  })

  test('that is held is aborted like any other', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    const step = svc.model.waits()
    await svc.sessions.prompt(session, 'hello')
    await step.started
    expect(await svc.sessions.abort(session)).toBe(true)
    expect(svc.actors.history({ kind: 'run' }).at(-1)).toBe('aborted')
  })

  test('that fails for a while is asked again on the clock', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    svc.model.fails('overloaded', { retryable: true }).says('Here.')
    await svc.sessions.prompt(session, 'hello')
    await svc.state({ kind: 'run' }, 'working.backingOff')
    await svc.clock.advance(60_000)
    await svc.sessions.idle(session)
    expect(svc.actors.history({ kind: 'run' })).toEqual([
      'working.preparing',
      'working.generating',
      'working.backingOff',
      'working.generating',
      'closing',
      'finished',
    ])
  })
})

describe('a tool', () => {
  test('fails as the test says, answers by itself once told to, and has to be named', async () => {
    const svc = await start({ tools: ['deploy'] })
    const session = await svc.sessions.create()
    svc.model.callsTools({ tool: 'deploy', callId: 'a' }, { tool: 'deploy', callId: 'b' }).callsTool('deploy', { n: 3 }).says('Done.')
    await svc.sessions.prompt(session, 'deploy')
    const tool = svc.tool('deploy')
    const [first, second] = [await tool.called(), await tool.called()]
    tool.answers(({ n }) => `number ${String(n)}`)
    second.finishes('fine')
    first.fails('no disk')
    await svc.sessions.idle(session)
    const states = svc.sessions
      .messages(session)
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part.state] : [])))
    expect(states).toMatchObject([
      { status: 'error', error: expect.stringContaining('no disk') as string },
      { status: 'completed', output: 'fine' },
      { status: 'completed', output: 'number 3' },
    ])
    await expect(tool.called({ withinMs: 1 }).then(() => tool.called({ withinMs: 1 }))).rejects.toThrow(
      'call 4 of the tool "deploy": not within 1 ms. It was called 3 times.',
    )
    expect(() => svc.tool('other')).toThrow(`name it in the options of startTestRuntime, as in { tools: ['other'] }. Played: deploy.`)
  })
})

describe('an actor', () => {
  test('is sent what its machine knows, and nothing else', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    svc.model.waits()
    await svc.sessions.prompt(session, 'hello')
    await svc.state({ kind: 'run' }, 'working.generating')
    expect(() => svc.send({ kind: 'session' }, { type: 'dance' })).toThrow(
      `session:${session.id} knows no event "dance"; it knows abort.requested, stop.requested, woken`,
    )
    svc.send({ kind: 'session', id: session.id }, { type: 'abort.requested' })
    await svc.state({ kind: 'run', id: session.id }, 'aborted')
    await svc.state({ kind: 'session' }, 'idle')
  })

  test('that is in another state when the time is over is told with its way there', async () => {
    const svc = await start({ waitMs: 400 })
    const session = await svc.sessions.create()
    svc.model.says('Hello.')
    await svc.sessions.ask(session, 'hello')
    await expect(svc.state({ kind: 'run' }, 'failed')).rejects.toThrow(
      /the state "failed": not within 400 ms\. It ended in "finished", after working.preparing → working.generating → closing\./,
    )
    await expect(svc.state({ kind: 'session' }, 'asleep')).rejects.toThrow(
      /It is in "idle", after looking → working.running → looking\. The clock stands still; its next timer is due in \d+ ms\./,
    )
    await expect(async () => svc.state({ kind: 'session' }, 'dancing')).rejects.toThrow(
      'the machine "session" has no state "dancing"; it has idle, looking, working,',
    )
    expect(() => svc.actors.get({ kind: 'pty' })).toThrow(/there is no actor of the kind "pty"\. Live are runtime, /)
    expect(() => svc.actors.get({ kind: 'package' })).toThrow(/is ambiguous: package:test\.played@built-in, /)
    expect(() => svc.actors.get({ kind: 'robot' as 'run' })).toThrow('there are no actors of the kind "robot"; kinds are activation,')
  })

  test('leaves a trace with everything that happened to it', async () => {
    const svc = await start()
    svc.model.says('Hello.')
    await svc.sessions.ask(await svc.sessions.create(), 'hello')
    const { format, records, machines, actors } = svc.trace()
    expect(format).toBe('svc-inspector-trace')
    expect(records.map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1))
    expect(machines.map(({ id }) => id)).toEqual(expect.arrayContaining(['package', 'run', 'session']))
    expect(actors.map(({ kind }) => kind)).toContain('session')
  })
})

describe('a played plugin', () => {
  test('runs nothing before it is approved', async () => {
    const svc = await start()
    const plugin = await svc.playPlugin(one('x'), { approved: false })
    expect([await plugin.info(), plugin.starts]).toMatchObject([{ state: 'permission-required' }, 0])
    await plugin.approve()
    await svc.state({ kind: 'package', id: plugin.id }, 'active')
    expect([plugin.starts, plugin.running]).toEqual([1, 1])
    await expect(svc.playPlugin(one('x'))).rejects.toThrow('is played already')
  })

  test('goes on with its old content until the new one is approved', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    const plugin = await svc.playPlugin(one('old'))
    const actor = { kind: 'package', id: plugin.id } as const
    await svc.state(actor, 'active')
    await plugin.update(one('new'))
    await svc.state(actor, 'update-available')
    const answer = async () => {
      svc.model.callsTool('one').says('Done.')
      await svc.sessions.ask(session, 'go')
      return svc.sessions
        .messages(session)
        .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part.state] : [])))
        .at(-1)
    }
    expect(await answer()).toMatchObject({ output: 'old' })
    const swapped = svc.state(actor, 'active', { next: true })
    await plugin.approve()
    await swapped
    expect(await answer()).toMatchObject({ output: 'new' })
    await svc.clock.settle()
    expect([plugin.starts, plugin.running]).toEqual([2, 1])
  })

  test('that hangs answers no call, which is given up on the clock; it may come back', async () => {
    const svc = await start()
    const session = await svc.sessions.create()
    const plugin = await svc.playPlugin(one('x'))
    await svc.state({ kind: 'package', id: plugin.id }, 'active')
    plugin.hang()
    svc.model.callsTool('one').says('It is slow.')
    await svc.sessions.prompt(session, 'go')
    await svc.state({ kind: 'tool-call' }, 'executing.working')
    await svc.clock.advance(60_000)
    await svc.sessions.idle(session)
    plugin.resume()
    svc.model.callsTool('one').says('Better.')
    expect(await svc.sessions.ask(session, 'again')).toBe('Better.')
    const states = svc.sessions
      .messages(session)
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part.state] : [])))
    expect(states).toMatchObject([{ status: 'error' }, { status: 'completed', output: 'x' }])
  })

  test('reads the configuration and writes notes as on a pipe', async () => {
    const svc = await start()
    const configs: unknown[] = []
    const plugin = await svc.playPlugin(
      {
        initialize: ({ config }) => void configs.push(config),
        events: {
          namespaces: ['session.created'],
          handler() {
            throw new Error('not today')
          },
        },
      },
      { config: { level: 3 } },
    )
    await svc.state({ kind: 'package', id: plugin.id }, 'active')
    await svc.sessions.create()
    await svc.clock.advance(1000)
    expect(configs).toEqual([{ level: 3 }])
    expect(plugin.notes).toEqual([expect.stringMatching(/^the handler of session\.created failed: Error: not today\n +at /)])
  })
})
