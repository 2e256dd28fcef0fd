// Holds sessions-events §8.12, §10.12.
import { describe, expect, test } from 'vitest'
import { taskBroker } from '../../../src/actors/plugin/brokers/task-spawn.broker.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { DelegatedTask, TaskOutcome } from '../../../src/ports/broker-doors.js'
import type { ToolContext } from '../../../src/ports/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { callOf, leaseOf, serve, storeWith } from './fake-lease.js'

interface Running {
  readonly call: ToolContext
  readonly task: DelegatedTask
  readonly signal: AbortSignal
  begun(sessionId: string): void
  end(outcome: TaskOutcome): void
  fail(error: Error): void
}

function setUp() {
  const effects = createFakeEffects()
  const store = storeWith(effects, ['ses_1'])
  const running: Running[] = []
  const broker = taskBroker({
    effects,
    store,
    tasks: () => ({
      run: (call, task, { signal, onBegun }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => resolve({ status: 'stopped', text: 'It was stopped.', usage: undefined }))
          running.push({ call, task, signal, begun: onBegun, end: resolve, fail: reject })
        }),
    }),
  })
  const lease = leaseOf(effects, ['task-spawn', broker])
  const spawn = async (input: object = {}) => {
    const answer = lease.call('spawn', { description: 'look', prompt: 'look around', ...input })
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    running.at(-1)?.begun(`ses_task_${running.length}`)
    return (await answer) as { opaqueId: string }
  }
  return { effects, lease, spawn, running }
}

const USAGE = { cost: 0.5, tokens: { input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } } }

describe('a task', () => {
  test('is delegated as the run that called the plugin, and told how it ended', async () => {
    const { effects, lease, spawn, running } = setUp()
    const call = callOf(effects)
    serve(lease.served, call)
    const task = await spawn({ agent: 'explore' })
    const about = { opaqueId: task.opaqueId, sessionId: 'ses_task_1', agent: 'explore', description: 'look' }
    expect(task).toEqual({ ...about, status: 'running', text: null, usage: null })
    expect([running[0]?.call, running[0]?.task]).toEqual([call, { agent: 'explore', description: 'look', prompt: 'look around' }])
    const waiting = lease.call('wait', { opaqueId: task.opaqueId, waitMs: 1000 })
    running[0]?.end({ status: 'completed', text: 'It is dark.', usage: USAGE })
    const ended = { ...about, status: 'completed', text: 'It is dark.', usage: { cost: 0.5, inputTokens: 10, outputTokens: 5 } }
    expect(await waiting).toEqual(ended)
    expect(await lease.call('status', { opaqueId: task.opaqueId })).toEqual(ended)
    expect(await lease.call('list')).toEqual({ tasks: [ended] })
  })

  test('is begun in a tool call alone, and in one of a session of its own', async () => {
    const { lease, running } = setUp()
    const spawn = (input: object = {}) => lease.call('spawn', { description: 'look', prompt: 'look', ...input })
    await expect(spawn()).rejects.toThrow('in no tool call')
    lease.served.heard('ses_1')
    await expect(spawn({ sessionId: 'ses_1' })).rejects.toThrow('in no tool call')
    await expect(spawn({ sessionId: 'ses_2' })).rejects.toThrow('none of its own')
    expect(running).toEqual([])
  })

  test('that cannot be begun, or is denied, says why', async () => {
    const { effects, lease, running } = setUp()
    serve(lease.served, callOf(effects))
    const answer = lease.call('spawn', { description: 'look', prompt: 'look' })
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    running[0]?.fail(new SvcError('request.forbidden', 'a permission rule of the run denies task for general'))
    await expect(answer).rejects.toThrow('denies task for general')
  })

  test('is stopped when it is cancelled, when its time is over, and with its lease', async () => {
    const { effects, lease, spawn, running } = setUp()
    serve(lease.served, callOf(effects))
    const [late, cancelled] = [await spawn({ timeoutMs: 1000 }), await spawn()]
    await spawn()
    effects.clock.advance(1000)
    expect(await lease.call('wait', { opaqueId: late.opaqueId, waitMs: 1000 })).toMatchObject({
      status: 'stopped',
      text: 'It was stopped.',
    })
    await lease.cancel(cancelled.opaqueId)
    expect(running.map(({ signal }) => signal.aborted)).toEqual([true, true, false])
    await lease.revoke()
    expect(running.map(({ signal }) => signal.aborted)).toEqual([true, true, true])
  })

  test('is one of so many at a time', async () => {
    const { effects, lease, spawn } = setUp()
    serve(lease.served, callOf(effects))
    for (let left = LIMITS.pluginTasks.running; left > 0; left--) await spawn()
    await expect(lease.call('spawn', { description: 'look', prompt: 'look' })).rejects.toThrow(
      `at most ${LIMITS.pluginTasks.running} tasks`,
    )
  })
})
