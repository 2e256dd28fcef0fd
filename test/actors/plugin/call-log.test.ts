import { expect, test } from 'vitest'
import { heard, noteCall } from '../../../src/actors/plugin/calls/call-log.js'
import { heardContributions } from '../../../src/actors/plugin/calls/heard-contributions.js'
import { askedBy, calledBy } from '../../../src/actors/plugin/link/call-names.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { InspectedCall } from '../../../src/protocol/system/inspector.js'
import { ToolError } from '../../../src/ports/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { callOf } from './fake-lease.js'
import { playLink } from './played-link.js'

const SECRET = 'the-quick-brown-secret'

function log() {
  const calls: InspectedCall[] = []
  let time = 1000
  return {
    calls,
    pass: (ms: number) => void (time += ms),
    onCall: (call: Parameters<typeof noteCall>[3]) => noteCall(calls, () => time, 3, call),
  }
}

test('a call is there while it runs, and says how it ended by a name, never by what was said', async () => {
  const { calls, pass, onCall } = log()
  const ended = onCall({ from: 'host', method: 'tool.invoke', name: 'greet', sessionId: 'ses_1' })
  const begun = { at: 1000, from: 'host', generation: 3, method: 'tool.invoke', name: 'greet', sessionId: 'ses_1', outcome: 'running' }
  expect(calls).toEqual([begun])
  pass(12)
  ended()
  expect(calls).toEqual([{ ...begun, outcome: 'ok', ms: 12 }])
  const stop = new AbortController()
  const failing = async (error: Error) => {
    const work = async () => {
      throw error
    }
    await expect(heard(onCall, { from: 'plugin', method: 'x' }, stop.signal, work)).rejects.toBe(error)
  }
  await failing(new SvcError('quota.exceeded', SECRET))
  await failing(new ToolError(SECRET))
  await failing(new Error(SECRET))
  stop.abort()
  await failing(new Error(SECRET))
  expect(calls.slice(1).map(({ outcome }) => outcome)).toEqual(['quota.exceeded', 'tool.failed', 'failed', 'aborted'])
  expect(JSON.stringify(calls)).not.toContain(SECRET)
})

test('there are never more than the latest ones, and none is longer than a name may be', () => {
  const { calls, onCall } = log()
  for (let index = 0; index < 3 * LIMITS.inspector.pluginCalls; index++) onCall({ from: 'plugin', method: `m${index}` })
  expect(calls).toHaveLength(LIMITS.inspector.pluginCalls)
  expect(calls.at(-1)?.method).toBe(`m${3 * LIMITS.inspector.pluginCalls - 1}`)
  onCall({ from: 'plugin', method: 'm'.repeat(10_000), name: '\ud83d'.repeat(10_000), sessionId: 's'.repeat(10_000) })
  expect(JSON.stringify(calls.at(-1)).length).toBeLessThan(8 * LIMITS.inspector.pluginName)
})

test('of what is asked only ids are taken', () => {
  const input = { text: SECRET, sessionId: SECRET }
  expect(calledBy('tool.invoke', { tool: 'greet', sessionId: 'ses_1', input })).toEqual({
    from: 'host',
    method: 'tool.invoke',
    name: 'greet',
    sessionId: 'ses_1',
  })
  expect(calledBy('hook.invoke', { hook: 'chat.system', context: { sessionId: 'ses_2' }, value: input })).toMatchObject({
    name: 'chat.system',
    sessionId: 'ses_2',
  })
  expect(calledBy('route.handle', { routeId: 'r', request: { sessionId: null, body: input } })).toEqual({
    from: 'host',
    method: 'route.handle',
    name: 'r',
  })
  expect(askedBy({ method: 'host.network.request', params: { operation: 'fetch', input } })).toEqual({
    from: 'plugin',
    method: 'host.network.request',
    name: 'fetch',
  })
  expect([askedBy({ method: 'x', params: null }), calledBy('y', 'text')]).toEqual([
    { from: 'plugin', method: 'x' },
    { from: 'host', method: 'y' },
  ])
})

test('a link tells of its calls: answered, refused by the plugin, given up', async () => {
  const { calls, onCall } = log()
  const { link, plugin } = playLink(undefined, onCall)
  const stop = new AbortController()
  const all = [
    link.call('tool.invoke', { tool: 'a', input: SECRET }),
    link.call('tool.invoke', { tool: 'b' }),
    link.call('tool.invoke', { tool: 'c' }, { signal: stop.signal }),
  ]
  plugin({ id: 1, result: SECRET }, { id: 2, error: SECRET })
  stop.abort(new Error('enough'))
  await Promise.allSettled(all)
  expect(calls.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['a', 'ok'],
    ['b', 'plugin.failed'],
    ['c', 'aborted'],
  ])
  expect(JSON.stringify(calls)).not.toContain(SECRET)
})

test('what runs inside of the server tells of its tools, hooks and operations, and does the same as before', async () => {
  const { calls, onCall } = log()
  const tool = { id: 'greet', description: '', permission: 'greet', needs: async () => [] }
  const contributions = heardContributions(
    {
      tools: [{ ...tool, input: undefined as never, invoke: async (input) => ({ title: String(input), output: '' }) }],
      hooks: { 'chat.system': async (_context, value) => value },
      operations: { 'v2.x': async () => Promise.reject(new SvcError('resource.not_found', SECRET)) },
    },
    onCall,
  )
  const context = callOf(createFakeEffects(), { sessionId: 'ses_7' })
  expect(await contributions.tools?.[0]?.invoke(SECRET, context)).toEqual({ title: SECRET, output: '' })
  expect(await contributions.hooks?.['chat.system']?.({ sessionId: 'ses_8' }, 5, context.signal)).toBe(5)
  await expect(contributions.operations?.['v2.x']?.(undefined as never)).rejects.toThrow(SECRET)
  expect(calls.map(({ method, name, sessionId, outcome }) => [method, name, sessionId, outcome])).toEqual([
    ['tool.invoke', 'greet', 'ses_7', 'ok'],
    ['hook.invoke', 'chat.system', 'ses_8', 'ok'],
    ['operation', 'v2.x', undefined, 'resource.not_found'],
  ])
  expect(JSON.stringify(calls)).not.toContain(SECRET)
})
