// Holds sessions-events §10.12.
/** A disk that fails between the admission of a prompt and the note of it. */
import { expect, test } from 'vitest'
import { subagentsPlugin } from '../../../src/plugins/subagents/subagents.plugin.js'
import type { NativeHost, NativePlugin } from '../../../src/ports/plugin.js'
import { type ErrorCode, SvcError } from '../../../src/protocol/errors.js'
import { calls, gate, type PlayedStep, says, startTestService } from '../../fakes/service.js'

/** Rounds after which a task that goes round is ended by the test. */
const ROUNDS = 100

/** The first note of a prompt that was admitted, and is being answered, fails. */
function failing(code: ErrorCode): {
  readonly plugin: NativePlugin
  readonly seen: { notes: number; rounds: number }
  readonly failed: ReturnType<typeof gate>
} {
  const plugin = subagentsPlugin()
  const seen = { notes: 0, rounds: 0 }
  const failed = gate()
  let isAdmitted = false
  const broken = (host: NativeHost): NativeHost => ({
    ...host,
    sessions: {
      ...host.sessions,
      async prompt(sessionId, request) {
        const admitted = await host.sessions.prompt(sessionId, request)
        isAdmitted = true
        return admitted
      },
      quiet(sessionId, signal) {
        if (++seen.rounds > ROUNDS) throw new Error('it goes round')
        return host.sessions.quiet(sessionId, signal)
      },
    },
    rows: {
      ...host.rows,
      commit(durability, change) {
        if (isAdmitted && ++seen.notes === 1) {
          failed.open()
          throw new SvcError(code, 'The store cannot be written.')
        }
        return host.rows.commit(durability, change)
      },
    },
  })
  return { failed, plugin: { ...plugin, start: (host) => plugin.start(broken(host)) }, seen }
}

test.each(['store.unavailable', 'server.internal'] as const)(
  'the task is followed after %s, its prompt is admitted once, and what came of it is told',
  async (code) => {
    const { plugin, seen, failed } = failing(code)
    const service = await startTestService({ plugins: [plugin], config: { permission: { '*': 'allow' } } })
    const id = await service.session()
    const answered = gate()
    const input = { description: 'look', prompt: 'look around', subagent_type: 'general', background: true }
    /** Of the task, and of whoever delegated it. */
    const step: PlayedStep = async (push, signal, request) => {
      if (!JSON.stringify(request.messages.at(-1)).includes('look around')) return says('noted')(push, signal, request)
      await answered.promise
      return says('found it')(push, signal, request)
    }
    service.steps.push(calls({ callId: 'call_1', tool: 'task', input }), step, step, step)
    await service.prompt(id, 'begin')
    await failed.promise
    const told = service.until(({ type }) => type === 'session.subtask.completed')
    answered.open()
    await service.effects.clock.advanceAsync(5000)
    expect((await told).data).toMatchObject({ status: 'completed', result: 'found it' })
    expect([seen.notes > 1, seen.rounds < ROUNDS]).toEqual([true, true])
    const [child] = service.store.sessions.children(id)
    expect(service.messages(child?.id ?? '').filter(({ info }) => info.role === 'user')).toHaveLength(1)
  },
)
