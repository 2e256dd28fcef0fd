// Holds sessions-events §4.10.
import { describe, expect, it } from 'vitest'
import { type AnyMachineSnapshot, type AnyStateMachine, type EventObject, initialTransition, transition } from 'xstate'
import { hasFollowUp, wasCut } from '../../src/machines/session/follow-up.js'
import { mayRetry, retryDelay, retryPolicyOf } from '../../src/machines/session/retry.js'
import { compactionMachine } from '../../src/machines/session/compaction.machine.js'
import { LIMITS } from '../../src/protocol/limits.js'
import { runMachine } from '../../src/machines/session/run.machine.js'
import { runtimeMachine } from '../../src/machines/runtime/runtime.machine.js'
import { sessionMachine } from '../../src/machines/session/session.machine.js'
import { stepRecorderMachine } from '../../src/machines/session/step-recorder.machine.js'
import { toolCallMachine } from '../../src/machines/session/tool-call.machine.js'
import { SvcError } from '../../src/protocol/errors.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string, cause: unknown = new Error('broken')) => ({ type: `xstate.error.actor.${actorId}`, error: cause, actorId })
const after = (delay: string, node: string) => ({ type: `xstate.after.${delay}.${node}` })

interface Action {
  readonly type: string
  readonly params?: Readonly<{ id?: string; delay?: number; event?: { type: string }; to?: unknown }> | undefined
}

/** What an action means to a reader: what is spawned, sent, stopped or raised. */
function shown({ type, params }: Action): string {
  const subject = params?.id ?? params?.event?.type ?? ''
  return subject === '' ? type : `${type} ${subject}`
}

/** Where a machine stands after the events, and what the last of them made it do. */
function walk(machine: AnyStateMachine, input: unknown, ...events: readonly EventObject[]) {
  let [snapshot, actions] = initialTransition(machine, input) as [AnyMachineSnapshot, Action[]]
  for (const event of events) [snapshot, actions] = transition(machine, snapshot, event) as [AnyMachineSnapshot, Action[]]
  return { value: snapshot.value, context: snapshot.context, output: snapshot.output, status: snapshot.status, actions: actions.map(shown) }
}

describe('the session machine', () => {
  const session = (...events: EventObject[]) => walk(sessionMachine, { sessionId: 'ses_1' }, ...events)
  const claimed = done('claimWork', { kind: 'run', runId: 'evt_1' })

  it('looks for work first and runs what it finds', () => {
    expect(session()).toMatchObject({ value: 'looking', actions: ['xstate.spawnChild claimWork'] })
    expect(session(claimed)).toMatchObject({
      value: { working: 'running' },
      context: { runId: 'evt_1' },
      actions: expect.arrayContaining(['xstate.spawnChild run']),
    })
    expect(session(done('claimWork', { kind: 'none' })).value).toBe('idle')
  })

  it('looks again when it was woken while it looked', () => {
    expect(session({ type: 'woken' }, done('claimWork', { kind: 'none' }))).toMatchObject({
      value: 'looking',
      context: { wakePending: false },
    })
  })

  it('carries an abort from looking into the run, and forgets it with the run', () => {
    const aborted = session({ type: 'abort.requested' }, claimed)
    expect(aborted).toMatchObject({ value: { working: 'running' }, context: { abortPending: true } })
    expect(session({ type: 'abort.requested' }, claimed, done('run', { end: 'aborted' }))).toMatchObject({
      value: 'looking',
      context: { abortPending: false },
    })
  })

  it('keeps an unrecorded run until its end is recorded, pausing longer each time', () => {
    const unrecorded = done('run', { end: 'unrecorded' })
    expect(session(claimed, unrecorded)).toMatchObject({ value: 'recovering', context: { runId: 'evt_1' } })
    const failed = [claimed, unrecorded, error('recordCrash')]
    expect(session(...failed)).toMatchObject({ value: 'pausing', context: { runId: 'evt_1', faults: 1 } })
    expect(session(...failed, after('faultRetry', 'session.pausing'))).toMatchObject({ value: 'recovering', context: { runId: 'evt_1' } })
    expect(session(...failed, { type: 'woken' }).value).toBe('recovering')
    expect(session(...failed, { type: 'woken' }, error('recordCrash')).context).toMatchObject({ faults: 2 })
    expect(session(...failed, { type: 'woken' }, done('recordCrash'))).toMatchObject({ value: 'looking', context: { runId: undefined } })
  })

  it('knows how a run ended whose end is not recorded, and that one that crashed has failed', () => {
    const failure = { code: 'provider.failed', message: 'no', retryable: false }
    expect(session(claimed, done('run', { end: 'unrecorded', failure })).context).toMatchObject({ failure })
    expect(session(claimed, done('run', { end: 'unrecorded' })).context.failure).toBeUndefined()
    expect(session(claimed, error('run')).context).toMatchObject({ failure: { message: 'The run ended unexpectedly.' } })
  })

  it('asks for a title after the run when one is wanted, and withdraws it when another run begins', () => {
    const titled = done('claimWork', { kind: 'run', runId: 'evt_1', wantsTitle: true })
    const ended = done('run', { end: 'finished' })
    expect(session(titled).actions).not.toContain('xstate.spawnChild title:evt_1')
    expect(session(titled, ended).actions).toContain('xstate.spawnChild title:evt_1')
    expect(session(claimed, ended).actions).not.toContain('xstate.spawnChild title:evt_1')
    expect(session(titled, ended, done('title:evt_1'))).toMatchObject({ value: 'looking', actions: ['xstate.stopChild title:evt_1'] })
    expect(session(titled, ended, error('title:evt_1'))).toMatchObject({ value: 'looking', actions: ['xstate.stopChild title:evt_1'] })
  })

  it('pauses after a failed look and does not lose an abort meanwhile', () => {
    const paused = [error('claimWork'), { type: 'abort.requested' }]
    expect(session(...paused)).toMatchObject({ value: 'pausing', context: { faults: 1, abortPending: true } })
    expect(session(...paused, after('faultRetry', 'session.pausing'), claimed)).toMatchObject({
      value: { working: 'running' },
      context: { abortPending: true, faults: 0 },
    })
  })

  it('stops from everywhere, a run first being aborted', () => {
    expect(session(claimed, { type: 'stop.requested' })).toMatchObject({
      value: { working: 'running' },
      actions: expect.arrayContaining(['xstate.sendTo abort.requested']),
    })
    expect(session(claimed, { type: 'stop.requested' }, done('run', { end: 'aborted' })).value).toBe('stopped')
    expect(session(error('claimWork'), { type: 'stop.requested' }).value).toBe('stopped')
    expect(session(claimed, { type: 'stop.requested' }, done('run', { end: 'unrecorded' }), error('recordCrash')).value).toBe('stopped')
    expect(session({ type: 'stop.requested' }, done('claimWork', { kind: 'none' })).value).toBe('stopped')
  })
})

describe('the step recorder machine', () => {
  const recorder = (...events: EventObject[]) => walk(stepRecorderMachine, undefined, ...events)
  const said = { type: 'said' }
  const rung = after('flushInterval', 'step-recorder.open.behind')

  it('stores what was said after a while, and tries again when that fails', () => {
    expect(recorder(said).value).toEqual({ open: 'behind' })
    expect(recorder(said, said).actions).toEqual([])
    expect(recorder(said, rung)).toMatchObject({ value: { open: 'storing' }, actions: expect.arrayContaining(['xstate.spawnChild store']) })
    expect(recorder(said, rung, done('store')).value).toEqual({ open: 'stored' })
    expect(recorder(said, rung, error('store')).value).toEqual({ open: 'behind' })
    expect(recorder(said, rung, said, done('store')).value).toEqual({ open: 'behind' })
  })

  it('is closed once and for all', () => {
    for (const before of [[], [said], [said, rung]])
      expect(recorder(...before, { type: 'closed' })).toMatchObject({ value: 'closed', status: 'done' })
  })
})

describe('the run machine', () => {
  const run = (...events: EventObject[]) => walk(runMachine, { sessionId: 'ses_1', runId: 'evt_1' }, ...events)
  const prepared = done('prepare', { tokens: 1, isDue: false })
  const called = (callId: string) => ({ type: 'tool.called', callId })
  const failed = (retryable: boolean) => ({ type: 'generation.failed', failure: { code: 'provider.failed', message: 'no', retryable } })
  const closed = (follows: boolean, more: object = {}) => done('closeStep', { follows, wasCut: false, isContinuation: false, ...more })
  const settled = (callId: string) => done(`call:${callId}`, { callId, end: 'completed' })

  it('starts calls while the stream goes on and closes the step after both', () => {
    expect(run(prepared, called('a'))).toMatchObject({
      value: { working: 'generating' },
      context: { active: ['a'], callsStarted: 1 },
      actions: ['xstate.spawnChild call:a'],
    })
    expect(run(prepared, called('a'), { type: 'generation.finished' }).value).toEqual({ working: { settling: 'soon' } })
    expect(run(prepared, called('a'), { type: 'generation.finished' }, after('settlesSoon', 'run.working.settling.soon'))).toMatchObject({
      value: { working: { settling: 'long' } },
      actions: expect.arrayContaining(['xstate.spawnChild endStreaming']),
    })
    expect(run(prepared, called('a'), { type: 'generation.finished' }, settled('a')).value).toBe('closing')
    expect(run(prepared, { type: 'generation.finished' }).value).toBe('closing')
  })

  it('starts the eleventh call when one of ten has settled', () => {
    const eleven = 'abcdefghijk'.split('').map(called)
    expect(run(prepared, ...eleven).context).toMatchObject({ waiting: ['k'], callsStarted: 10 })
    expect(run(prepared, ...eleven, settled('c'))).toMatchObject({
      context: { waiting: [], callsStarted: 11 },
      actions: expect.arrayContaining(['xstate.spawnChild call:k']),
    })
  })

  it('backs off after a retryable failure unless a call was started', () => {
    expect(run(prepared, failed(true))).toMatchObject({ value: { working: 'backingOff' }, context: { attempt: 1 } })
    expect(run(prepared, failed(true), after('retryDelay', 'run.working.backingOff'))).toMatchObject({ value: { working: 'generating' } })
    expect(run(prepared, failed(false)).value).toEqual({ ending: 'recording' })
    expect(run(prepared, called('a'), failed(true))).toMatchObject({ value: { ending: 'aborting' }, context: { attempt: 0 } })
  })

  it.each([
    ['an abort', { type: 'abort.requested' }, 'aborted'],
    ['a failure', failed(true), 'failed'],
  ] as const)('aborts its calls after %s and waits for them, at most until the deadline', (_, reason, end) => {
    const aborting = [prepared, called('a'), called('b'), reason]
    expect(run(...aborting)).toMatchObject({
      value: { ending: 'aborting' },
      actions: expect.arrayContaining(['xstate.sendTo abort.requested']),
    })
    expect(run(...aborting, settled('a')).value).toEqual({ ending: 'aborting' })
    expect(run(...aborting, settled('a'), settled('b')).value).toEqual({ ending: 'recording' })
    expect(run(...aborting, after('abortDeadline', 'run.ending.aborting')).value).toEqual({ ending: 'recording' })
    expect(run(...aborting, settled('a'), settled('b'), done('recordEnd')).output).toEqual({ end })
  })

  it('starts none of the calls that wait once it ends', () => {
    const eleven = 'abcdefghijk'.split('').map(called)
    expect(run(prepared, ...eleven, failed(true), settled('a'))).toMatchObject({
      value: { ending: 'aborting' },
      context: { waiting: [], callsStarted: 10 },
    })
  })

  it('ends aborted when the abort came while the step was closed', () => {
    const closing = [prepared, { type: 'generation.finished' }, { type: 'abort.requested' }]
    expect(run(...closing, closed(true)).value).toEqual({ ending: 'recording' })
    expect(run(...closing, closed(true), done('recordEnd')).output).toEqual({ end: 'aborted' })
    expect(run(...closing, done('closeStep', { tokens: 8 }), done('recordEnd')).output).toEqual({ end: 'aborted' })
    expect(run(...closing, error('closeStep'), done('recordEnd')).output).toEqual({ end: 'failed' })
    expect(run(...closing, closed(false)).output).toEqual({ end: 'finished' })
  })

  describe('compacts its conversation', () => {
    const due = done('prepare', { tokens: 9, isDue: true })
    const compaction = (end: string) => done('compaction', { end })
    const overflow = { type: 'generation.failed', failure: { code: 'context.overflow', message: 'too large', retryable: false } }

    it('before a step, and then builds the same step without looking again', () => {
      expect(run(due)).toMatchObject({
        value: 'compacting',
        actions: expect.arrayContaining(['xstate.spawnChild compaction']),
      })
      for (const end of ['compacted', 'nothing', 'failed']) expect(run(due, compaction(end)).value).toEqual({ working: 'preparing' })
      expect(run(due, compaction('compacted'), prepared)).toMatchObject({ value: { working: 'generating' }, context: { step: 1 } })
    })

    it('after a step, and then decides how it goes on', () => {
      const step = [prepared, { type: 'generation.finished' }, done('closeStep', { tokens: 8 })]
      expect(run(...step)).toMatchObject({ value: 'compacting', context: { compaction: { reason: 'auto' } } })
      expect(run(...step, compaction('failed')).value).toBe('closing')
      expect(run(...step, compaction('compacted'), closed(true))).toMatchObject({
        value: { working: 'preparing' },
        context: { step: 2 },
      })
      expect(run(...step, compaction('compacted'), closed(false)).output).toEqual({ end: 'finished' })
    })

    it('once when a request was too large, and gives up when that does not help', () => {
      expect(run(prepared, overflow)).toMatchObject({
        value: 'compacting',
        context: { compaction: { reason: 'overflow' } },
      })
      const again = [prepared, overflow, compaction('compacted'), prepared]
      expect(run(...again)).toMatchObject({ value: { working: 'generating' }, context: { step: 1, attempt: 0 } })
      expect(run(...again, overflow).value).toEqual({ ending: 'recording' })
      for (const end of ['nothing', 'failed']) expect(run(prepared, overflow, compaction(end)).value).toEqual({ ending: 'recording' })
      expect(run(prepared, overflow, compaction('failed')).context.failure).toMatchObject({ code: 'context.overflow' })
      expect(run(prepared, called('a'), overflow).value).toEqual({ ending: 'aborting' })
    })

    it('until it is aborted, and waits for the end of the compaction', () => {
      const aborted = run(due, { type: 'abort.requested' })
      expect(aborted).toMatchObject({ value: 'compacting', actions: ['xstate.sendTo abort.requested'] })
      expect(run(due, { type: 'abort.requested' }, compaction('aborted'), done('recordEnd')).output).toEqual({ end: 'aborted' })
      expect(run(due, { type: 'abort.requested' }, compaction('compacted'), done('recordEnd')).output).toEqual({ end: 'aborted' })
    })

    it('no more once that has failed twice', () => {
      const failing = [
        due,
        compaction('failed'),
        prepared,
        { type: 'generation.finished' },
        done('closeStep', { tokens: 8 }),
        compaction('failed'),
      ]
      expect(run(...failing).context.compactionFaults).toBe(2)
    })
  })

  it('tells why an effect failed, and when the end could not be recorded', () => {
    const full = new SvcError('store.unavailable', 'The disk is full.')
    expect(run(error('prepare', full))).toMatchObject({
      value: { ending: 'recording' },
      context: { failure: { code: 'store.unavailable', message: 'The disk is full.', retryable: false } },
    })
    expect(run(error('prepare')).context.failure).toMatchObject({ code: 'server.internal', message: 'The step could not be carried out.' })
    expect(run(error('prepare', full), error('recordEnd')).output).toEqual({
      end: 'unrecorded',
      failure: { code: 'store.unavailable', message: 'The disk is full.', retryable: false },
    })
    expect(run(error('prepare'), done('recordEnd')).output).toEqual({ end: 'failed' })
    expect(run({ type: 'abort.requested' }, error('recordEnd')).output).toEqual({ end: 'unrecorded' })
  })

  it('remembers that a step was cut, and how many in a row only announced more', () => {
    const step = [prepared, { type: 'generation.finished' }]
    const cut = [...step, closed(true, { wasCut: true, isContinuation: true })]
    expect(run(...cut).context).toMatchObject({ wasCut: true, continued: 1 })
    expect(run(...cut, ...cut).context).toMatchObject({ wasCut: true, continued: 2 })
    expect(run(...cut, ...step, closed(true)).context).toMatchObject({ wasCut: false, continued: 0 })
  })

  it('begins the next step with its counters at zero', () => {
    const next = run(prepared, called('a'), settled('a'), { type: 'generation.finished' }, closed(true))
    expect(next).toMatchObject({ value: { working: 'preparing' }, context: { step: 2, attempt: 0, callsStarted: 0 } })
  })
})

describe('the tool call machine', () => {
  const call = (...events: EventObject[]) => walk(toolCallMachine, { runId: 'evt_1', callId: 'a' }, ...events)
  const ask = [done('judge', 'ask'), done('ask', true)]

  it('judges again after every answer, at most four times', () => {
    expect(call(...ask)).toMatchObject({ value: 'judging', context: { rounds: 1 } })
    expect(call(...ask, ...ask, ...ask, ...ask, done('judge', 'ask')).value).toBe('refusing')
    expect(call(...ask, done('judge', 'allow'))).toMatchObject({
      value: { executing: 'working' },
      actions: ['xstate.stopChild judge', 'xstate.spawnChild execute'],
    })
  })

  it('ends as it was decided', () => {
    expect(call(done('judge', 'deny')).output).toEqual({ callId: 'a', end: 'denied' })
    expect(call(done('judge', 'ask'), done('ask', false)).output).toEqual({ callId: 'a', end: 'denied' })
    expect(call(done('judge', 'ask'), { type: 'abort.requested' }).output).toEqual({ callId: 'a', end: 'aborted' })
    expect(call(done('judge', 'allow'), { type: 'execution.settled', end: 'completed' } as EventObject).output).toEqual({
      callId: 'a',
      end: 'completed',
    })
  })

  it('fails, rather than being denied, when it cannot be judged', () => {
    expect(call(error('judge'))).toMatchObject({ value: 'faulting' })
    expect(call(error('judge'), done('refuse-fault')).output).toEqual({ callId: 'a', end: 'failed' })
  })

  it('leaves a tool that ignores its abort after the deadline', () => {
    const aborting = [done('judge', 'allow'), { type: 'abort.requested' }]
    expect(call(...aborting)).toMatchObject({ value: { executing: 'aborting' }, actions: expect.arrayContaining(['xstate.sendTo abort']) })
    expect(call(...aborting, after('abortDeadline', 'tool-call.executing.aborting')).output).toEqual({ callId: 'a', end: 'aborted' })
  })
})

describe('the runtime machine', () => {
  const runtime = (...events: EventObject[]) => walk(runtimeMachine, undefined, ...events)
  const started = ['recover', 'startPlugins', 'startSessions', 'listen'].map((id) => done(id))

  it('opens the door last and closes it first', () => {
    expect(runtime(...started.slice(0, 3))).toMatchObject({ actions: ['xstate.stopChild startSessions', 'xstate.spawnChild listen'] })
    const stopping = [...started, { type: 'stop.requested' }]
    expect(runtime(...stopping).actions).toContain('xstate.spawnChild refuse')
    expect(runtime(...stopping, done('refuse')).actions).toContain('xstate.spawnChild drainSessions')
    expect(runtime(...stopping, done('refuse'), done('drainSessions'), done('drainPlugins'), done('closeStore')).output).toMatchObject({
      exitCode: 0,
    })
  })

  it('ends with a failure when a start step fails or it is killed', () => {
    expect(runtime(error('recover'), done('abandon')).output).toMatchObject({ exitCode: 1, failure: { message: 'broken' } })
    expect(runtime(...started, { type: 'kill.requested' }, done('abandon')).output).toMatchObject({ exitCode: 1 })
  })
})

describe('whether a step is repeated', () => {
  const failure = { code: 'provider.failed', message: '', retryable: true }

  it.each([
    [failure, 0, 0, true],
    [failure, 2, 0, true],
    [failure, 3, 0, false],
    [failure, 0, 1, false],
    [{ ...failure, retryable: false }, 0, 0, false],
  ])('%j at attempt %d with %d calls: %s', (given, attempt, started, expected) => {
    expect(mayRetry(LIMITS.run.retry, given, attempt, started)).toBe(expected)
  })

  it('doubles its delay to a bound, or does as it is told, to a bound', () => {
    expect([0, 1, 2, 3, 4, 5].map((attempt) => retryDelay(LIMITS.run.retry, failure, attempt))).toEqual([
      2000, 4000, 8000, 16_000, 30_000, 30_000,
    ])
    expect([-5, 0, 1500, 90_000].map((retryAfterMs) => retryDelay(LIMITS.run.retry, { ...failure, retryAfterMs }, 0))).toEqual([
      0, 0, 1500, 60_000,
    ])
  })

  it('follows the environment where it says whole numbers', () => {
    expect(
      retryPolicyOf({
        SVC_AGENT_PROVIDER_MAX_RETRIES: '0',
        SVC_AGENT_PROVIDER_RETRY_INITIAL_MS: '-1',
        SVC_AGENT_PROVIDER_RETRY_MAX_MS: '5',
      }),
    ).toEqual({
      tries: 0,
      first: 2000,
      factor: 2,
      most: 5,
    })
  })
})

describe('whether another step follows', () => {
  const step = { finish: 'stop', toolCalls: 0, hasSteered: false, step: 1, limit: undefined, continued: 0 }

  it.each([
    [{}, false],
    [{ toolCalls: 1 }, true],
    [{ finish: 'tool-calls' }, true],
    [{ finish: 'length' }, true],
    [{ finish: 'max_tokens' }, true],
    [{ finish: 'incomplete' }, true],
    [{ finish: 'length', continued: 9 }, true],
    [{ finish: 'length', continued: 10 }, false],
    [{ finish: 'tool-calls', continued: 10 }, false],
    [{ finish: 'length', toolCalls: 1, continued: 10 }, true],
    [{ finish: 'content-filter' }, false],
    [{ hasSteered: true }, true],
    [{ toolCalls: 1, step: 2, limit: 2 }, false],
    [{ finish: 'length', step: 2, limit: 2 }, false],
    [{ hasSteered: true, step: 2, limit: 2 }, true],
  ])('%j: %s', (facts, expected) => {
    expect(hasFollowUp({ ...step, ...facts })).toBe(expected)
  })

  it('knows a cut by its names', () => {
    expect(['length', 'max_tokens', 'incomplete', 'stop', 'tool-calls'].filter(wasCut)).toEqual(['length', 'max_tokens', 'incomplete'])
  })
})

describe('the compaction machine', () => {
  const compaction = (...events: EventObject[]) => walk(compactionMachine, { runId: 'evt_1', reason: 'auto' }, ...events)
  const opened = done('open', true)

  it('opens, summarises and records', () => {
    expect(compaction()).toMatchObject({ value: 'opening', actions: ['xstate.spawnChild open'] })
    expect(compaction(opened)).toMatchObject({ value: { summarising: 'listening' } })
    expect(compaction(opened, { type: 'summary.finished' }).value).toBe('recording')
    expect(compaction(opened, { type: 'summary.finished' }, done('record', true)).output).toEqual({ end: 'compacted' })
  })

  it('ends at once when there is nothing to compact', () => {
    expect(compaction(done('open', false)).output).toEqual({ end: 'nothing' })
  })

  it('keeps what was written when the model fails or falls silent, and fails when that is nothing', () => {
    const failed = { type: 'summary.failed', failure: { code: 'provider.failed', message: 'gone', retryable: false } }
    expect(compaction(opened, failed).value).toBe('recording')
    const passing = { type: 'summary.failed', failure: { code: 'provider.failed', message: 'busy', retryable: true } }
    const tries = Array.from({ length: LIMITS.run.retry.tries }, () => [passing, after('retry', 'compaction.waiting')]).flat()
    expect(compaction(opened, passing).value).toBe('waiting')
    expect(compaction(opened, ...tries)).toMatchObject({
      value: { summarising: 'listening' },
      context: { attempt: LIMITS.run.retry.tries },
    })
    expect(compaction(opened, ...tries, passing).value).toBe('recording')
    expect(compaction(opened, passing, { type: 'abort.requested' }, done('recordEnd')).output).toEqual({ end: 'aborted' })
    expect(compaction(opened, failed, done('record', false))).toMatchObject({ value: 'ending', context: { failure: { message: 'gone' } } })
    expect(compaction(opened, after('stall', 'compaction.summarising.listening')).value).toBe('recording')
    expect(compaction(opened, { type: 'summary.heard' })).toMatchObject({ value: { summarising: 'listening' } })
    expect(compaction(opened, failed, done('record', false), done('recordEnd')).output).toEqual({ end: 'failed' })
    expect(compaction(opened, failed, done('record', false), error('recordEnd')).output).toEqual({
      end: 'unrecorded',
      failure: failed.failure,
    })
  })

  it('is aborted before, while and after it opens, never once it records', () => {
    const abort = { type: 'abort.requested' }
    expect(compaction(abort, opened).value).toBe('ending')
    expect(compaction(opened, abort, done('recordEnd')).output).toEqual({ end: 'aborted' })
    expect(compaction(opened, { type: 'summary.finished' }, abort, done('record', true)).output).toEqual({ end: 'compacted' })
    expect(walk(compactionMachine, { runId: 'evt_1', reason: 'manual', aborted: true }).value).toBe('ending')
  })
})
