// Holds plugin-protocol §3.2, §5, §5.2.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { HookedHeaders, HookedOptions, HookedResult, HookedVariables } from '../../../src/actors/plugin/calls/hook-values.js'
import { runHooks } from '../../../src/actors/plugin/calls/hooks.js'
import type { RegisteredHook, RegistryView } from '../../../src/ports/view.js'
import { defineTools } from '../../../src/actors/plugin/calls/tool-definitions.js'
import { createFakeView, readTool, registeredHook, registeredTool } from '../../fakes/plugins.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { gate } from '../../fakes/service.js'

const never = new AbortController().signal
const anything = (value: unknown) => value

describe('a chain of hooks', () => {
  it('answers the value itself when no plugin has the hook', async () => {
    const value = { a: 1 }
    expect(await runHooks(createFakeView(), 'chat.options', {}, value, { signal: never, accept: z.never() })).toBe(value)
  })

  it('gives each hook the answer of the one before, with the context', async () => {
    const seen: unknown[] = []
    const add = (name: string) =>
      registeredHook(name, async (context, value) => {
        seen.push([context, value])
        return [...(value as string[]), name]
      })
    const view = createFakeView({ hooks: { 'chat.messages': [add('one'), add('two')] } })
    const result = await runHooks(view, 'chat.messages', { agent: 'build' }, ['start'], { signal: never, accept: z.array(z.string()) })
    expect(result).toEqual(['start', 'one', 'two'])
    expect(seen).toEqual([
      [{ agent: 'build' }, ['start']],
      [{ agent: 'build' }, ['start', 'one']],
    ])
  })

  it('stops at the first failure, names its plugin, and leaves the value of the caller as it was', async () => {
    const value = { list: [1] }
    const changes = registeredHook('test.first', async (_context, given) => {
      const copy = given as { list: number[] }
      copy.list.push(2)
      return copy
    })
    const fails = registeredHook('test.second', async () => {
      throw new Error('no more')
    })
    const last = registeredHook('test.third', async () => expect.fail('must not be called'))
    const view = createFakeView({ hooks: { 'tool.before': [changes, fails, last] } })
    await expect(runHooks(view, 'tool.before', {}, value, { signal: never, accept: anything as () => typeof value })).rejects.toMatchObject(
      {
        code: 'plugin.failed',
        message: 'Plugin test.second: Its hook "tool.before" failed: no more',
      },
    )
    expect(value).toEqual({ list: [1] })
  })

  it.each([0, 1, 2])('charges the plugin whose answer is not usable, of three the one at %i, and asks nobody after it', async (wrong) => {
    const asked: number[] = []
    const hooks = [0, 1, 2].map((index) =>
      registeredHook(`test.${index}`, async () => {
        asked.push(index)
        return { a: index === wrong ? 'text' : index }
      }),
    )
    const view = createFakeView({ hooks: { 'chat.headers': hooks } })
    const accept = z.record(z.string(), z.number())
    await expect(runHooks(view, 'chat.headers', {}, {}, { signal: never, accept })).rejects.toMatchObject({
      details: { pluginId: `test.${wrong}` },
    })
    expect(asked).toEqual([0, 1, 2].slice(0, wrong + 1))
    const blamed = expect.stringMatching(/^The answer of the hook "chat.headers" is not usable: a: /)
    expect(hooks.map((hook) => hook.blamed)).toEqual([0, 1, 2].map((index) => (index === wrong ? [blamed] : [])))
  })

  it('ends at once when its signal aborts, although the hook hangs', async () => {
    const controller = new AbortController()
    const called = gate()
    const hangs = registeredHook('test.hangs', () => {
      called.open()
      return new Promise(() => undefined)
    })
    const running = runHooks(
      createFakeView({ hooks: { 'shell.env': [hangs] } }),
      'shell.env',
      {},
      {},
      { signal: controller.signal, accept: HookedVariables },
    )
    await called.promise
    controller.abort()
    await expect(running).rejects.toThrow(/abort/i)
    expect(hangs.blamed).toEqual([])
  })

  it('lets hooks see JSON and nothing else', async () => {
    let seen: unknown
    const looks = registeredHook('test.looks', async (_context, value) => {
      seen = value
      return value
    })
    await runHooks(
      createFakeView({ hooks: { 'tool.after': [looks] } }),
      'tool.after',
      {},
      { at: new Date(0), gone: undefined },
      { signal: never, accept: anything as never },
    )
    expect(seen).toStrictEqual({ at: '1970-01-01T00:00:00.000Z' })
  })
})

describe('answers of hooks', () => {
  it('take an empty list for an empty object', () => {
    expect(HookedOptions.parse([])).toEqual({})
    expect(HookedVariables.parse([])).toEqual({})
    expect(HookedResult.parse({ title: 't', output: 'o', metadata: [] })).toEqual({ title: 't', output: 'o', metadata: {} })
    expect(HookedOptions.safeParse([1]).success).toBe(false)
  })

  it('refuse headers that break or frame a request', () => {
    expect(HookedHeaders.parse({ 'X-Trace': 'a b' })).toEqual({ 'X-Trace': 'a b' })
    for (const headers of [{ 'a b': 'c' }, { a: 'b\r\nc: d' }, { Host: 'elsewhere' }, { 'content-length': '1' }, { a: 1 }])
      expect(HookedHeaders.safeParse(headers).success).toBe(false)
  })

  it('refuse variables that run something before the command, or belong to the server', () => {
    expect(HookedVariables.parse({ NODE_ENV: 'test', PATH: '/opt/bin:/usr/bin' })).toEqual({ NODE_ENV: 'test', PATH: '/opt/bin:/usr/bin' })
    expect(HookedVariables.parse({ PAGER: 'cat', AWS_PROFILE: 'test' })).toEqual({ PAGER: 'cat', AWS_PROFILE: 'test' })
    for (const name of [
      'HOME',
      'BASHOPTS',
      'CDPATH',
      'GIT_SSH_COMMAND',
      'PAGER',
      'EDITOR',
      'PYTHONPATH',
      'RUSTC_WRAPPER',
      'XDG_CONFIG_HOME',
      'https_proxy',
    ])
      expect([name, HookedVariables.safeParse({ [name]: '/x' }).success]).toEqual([name, false])
    for (const name of ['LD_PRELOAD', 'BASH_ENV', 'ENV', 'SVC_TOKEN', 'svc_token', 'IFS', 'A=B', '1A', ''])
      expect([name, HookedVariables.safeParse({ [name]: '/x' }).success]).toEqual([name, false])
    for (const variables of [{ PATH: '' }, { PATH: '/bin:' }, { PATH: 'bin' }, { A: 'x\0y' }, { A: 1 }])
      expect(HookedVariables.safeParse(variables).success).toBe(false)
  })
})

describe('definitions of tools', () => {
  const tool = registeredTool('test.files', readTool)
  const { clock } = createFakeEffects()
  const hooked = (...hooks: readonly RegisteredHook[]) => createFakeView({ hooks: { 'tool.definition': hooks } })
  const define = (view: Pick<RegistryView, 'hooks'>, tools = [tool], signal = never) => defineTools(view, tools, clock, { signal })

  it('are the registered ones without hooks', async () => {
    expect(await define(createFakeView())).toEqual({ definitions: [tool.definition], failures: [] })
  })

  it('are what hooks make of them', async () => {
    const louder = registeredHook('test.loud', async (context, value) => ({
      ...(value as object),
      description: `${String(context['toolId'])}!`,
    }))
    const { definitions } = await define(hooked(louder))
    expect(definitions).toEqual([{ ...tool.definition, description: 'read!', parameters: tool.definition.parameters }])
  })

  it('stay as registered for a tool whose hook fails, which its plugin is charged with after the whole list', async () => {
    const tools = ['read', 'write', 'list'].map((id) => registeredTool('test.files', { ...readTool, id }))
    const order: string[] = []
    const renames = registeredHook('test.renames', async ({ toolId }, value) => {
      order.push(String(toolId))
      return { ...(value as object), description: 'new', ...(toolId === 'read' && { id: 'bash' }) }
    })
    const hook = { ...renames, blame: (reason: string) => void order.push(reason) }
    const { definitions, failures } = await define(hooked(hook), tools)
    expect(definitions.map(({ id, description }) => [id, description])).toEqual([
      ['read', 'Reads a file.'],
      ['write', 'new'],
      ['list', 'new'],
    ])
    expect(failures).toEqual([
      { hook: 'tool.definition', pluginId: 'test.renames', toolId: 'read', message: expect.stringContaining('is not usable: id:') },
    ])
    expect(order.at(-1)).toContain('is not usable: id:')
  })

  it('are asked for once, until the tool, the hook or what its answers depend on is another', async () => {
    let state = 'one'
    let asked = 0
    const first = { ...registeredHook('test.first', async (_context, value) => value), state: async () => state }
    const counting = (): RegisteredHook => {
      const hook = registeredHook('test.counts', async (_context, value) => ({ ...(value as object), description: `answer ${++asked}` }))
      return { ...hook, state: async () => state }
    }
    const counts = counting()
    const description = async (tools = [tool], ...hooks: RegisteredHook[]) => {
      const { definitions } = await define(hooked(first, ...hooks), tools)
      return definitions[0]?.description
    }
    expect(await description([tool], counts)).toBe('answer 1')
    expect(await description([tool], counts)).toBe('answer 1')
    const changed = registeredTool('test.files', { ...readTool, description: 'Reads more.' })
    expect(await description([changed], counts)).toBe('answer 2')
    expect(await description([tool], counts)).toBe('answer 1')
    state = 'two'
    expect(await description([tool], counts)).toBe('answer 3')
    expect(await description([tool], counting())).toBe('answer 4')
    expect(asked).toBe(4)
  })

  it('are asked for again when the answer was a failure or was of no use', async () => {
    const answers: unknown[] = [new Error('no'), { id: 'bash' }, { id: 'read', description: 'good', parameters: {} }]
    const learns = registeredHook('test.learns', async () => {
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer instanceof Error) throw answer
      return answer
    })
    const descriptions = []
    for (let round = 0; round < 3; round++) descriptions.push((await define(hooked(learns))).definitions[0]?.description)
    expect(descriptions).toEqual(['Reads a file.', 'Reads a file.', 'good'])
  })

  it('share one signal, however many they are and whatever listens to it', async () => {
    const tools = Array.from({ length: 40 }, (_, index) => registeredTool('test.files', { ...readTool, id: `tool_${index}` }))
    const listens = registeredHook('test.listens', async (_context, value, signal) => {
      signal.addEventListener('abort', () => undefined, { once: true })
      await nextTurn()
      return value
    })
    const { definitions } = await define(hooked(listens), tools, new AbortController().signal)
    expect(definitions).toHaveLength(40)
  })
})
