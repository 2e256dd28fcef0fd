// Holds sessions-events §2.8, §8.11.
import { describe, expect, it } from 'vitest'
import { checkoutMachine } from '../../src/machines/vcs/checkout.machine.js'
import { cloneMachine } from '../../src/machines/workspace/clone.machine.js'
import { compactionMachine } from '../../src/machines/session/compaction.machine.js'
import { interactionMachine } from '../../src/machines/interaction/interaction.machine.js'
import { restoreMachine } from '../../src/machines/session/restore.machine.js'
import { runMachine } from '../../src/machines/session/run.machine.js'
import { runtimeMachine } from '../../src/machines/runtime/runtime.machine.js'
import { searchIndexMachine } from '../../src/machines/semantic/search-index.machine.js'
import { sessionMachine } from '../../src/machines/session/session.machine.js'
import { toolCallMachine } from '../../src/machines/session/tool-call.machine.js'
import { subscriptionMachine } from '../../src/machines/events/subscription.machine.js'
import { stepRecorderMachine } from '../../src/machines/session/step-recorder.machine.js'
import { titleMachine } from '../../src/machines/session/title.machine.js'
import { askingMachine } from '../../src/machines/acp/asking.machine.js'
import { turnMachine } from '../../src/machines/acp/turn.machine.js'
import { externalChildMachine } from '../../src/machines/external/external-child.machine.js'
import { previewMachine } from '../../src/machines/external/external-preview.machine.js'
import { externalTurnMachine } from '../../src/machines/external/external-turn.machine.js'
import { explore, missing } from './paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const after = (delay: string, node: string) => ({ type: `xstate.after.${delay}.${node}` })
const failure = (retryable: boolean) => ({ type: 'generation.failed', failure: { code: 'provider.failed', message: 'refused', retryable } })

describe('every transition is covered by generated paths', () => {
  it('of the tool call machine', () => {
    const explored = explore(toolCallMachine, { runId: 'evt_1', callId: 'call_1' }, [
      { type: 'abort.requested' },
      { type: 'execution.settled', end: 'completed' } as never,
      done('judge', 'allow'),
      done('judge', 'deny'),
      done('judge', 'ask'),
      error('judge'),
      done('ask', true),
      done('ask', false),
      error('ask'),
      error('execute'),
      done('refuse-rounds'),
      error('refuse-rounds'),
      done('refuse-fault'),
      error('refuse-fault'),
      after('abortDeadline', 'tool-call.executing.aborting'),
    ])
    expect(missing(explored)).toEqual([])
    expect(explored.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output.end)).toEqual(
      expect.arrayContaining(['completed', 'denied', 'aborted', 'failed']),
    )
  })

  it('of the machine of a look at an external agent', () => {
    const explored = explore(previewMachine, { key: 'k' }, [
      { type: 'agent.asked', method: 'fs/read_text_file' } as never,
      { type: 'agent.ended', how: 'it has ended' } as never,
      { type: 'stop.requested' },
      after('limit', 'external-preview.looking'),
      ...['begin', 'open', 'choose', 'end'].flatMap((id) => [done(id), error(id)]),
    ])
    expect(missing(explored)).toEqual([])
  })

  it('of the machine of a turn of an external agent', () => {
    const explored = explore(
      externalTurnMachine.provide({ actions: { cancel: () => undefined, hold: () => undefined } }),
      { sessionId: 'ses_1' },
      [
        { type: 'agent.told' },
        { type: 'agent.ended', how: 'it has ended' } as never,
        { type: 'abort.requested' },
        after('limit', 'external-turn.opening'),
        after('drain', 'external-turn.opening.draining'),
        after('quiet', 'external-turn.opening.draining.listening'),
        after('cancel', 'external-turn.prompting.cancelling'),
        after('quiet', 'external-turn.settling'),
        done('load', true),
        ...['begin', 'load', 'choose', 'prompt', 'told', 'leave', 'end'].flatMap((id) => [done(id), error(id)]),
      ],
    )
    expect(missing(explored)).toEqual([])
    const ends = explored.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output.end)
    expect(new Set(ends)).toEqual(new Set(['finished', 'failed', 'aborted']))
  })

  it('of the machine of a subagent of an external agent', () => {
    const explored = explore(externalChildMachine, { title: 'Look around' }, [
      { type: 'run.began' },
      { type: 'run.aborted' },
      ...(['completed', 'failed', 'stopped'] as const).map((end) => ({ type: 'child.over', end }) as never),
      ...['open', 'settled', 'stop'].flatMap((id) => [done(id), error(id)]),
    ])
    expect(missing(explored)).toEqual([])
    const ends = explored.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output.end)
    expect(new Set(ends)).toEqual(new Set(['completed', 'failed', 'stopped']))
  })

  it("of the machine of an editor's prompt", () => {
    const failed = { code: 'prompt.failed', message: 'refused', retryable: false } as const
    const explored = explore(turnMachine, { sessionId: 'ses_1' }, [
      { type: 'cancel.requested' },
      { type: 'session.closed' },
      { type: 'run.ended', stopReason: 'end_turn' } as never,
      { type: 'run.failed', failure: failed } as never,
    ])
    expect(missing(explored)).toEqual([])
    const outputs = explored.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output)
    expect(outputs).toEqual(
      expect.arrayContaining([{ stopReason: 'end_turn' }, { stopReason: 'cancelled' }, { stopReason: 'cancelled', failure: failed }]),
    )
  })

  it('of the machine of what an editor is asked', () => {
    const explored = explore(
      askingMachine,
      { requestId: 'per_1' },
      [{ type: 'prompt.joined' }, { type: 'prompt.left' }, { type: 'person.answered' }],
      { key: ({ context }) => Math.min((context as { readonly waiting: number }).waiting, 3) },
    )
    expect(missing(explored)).toEqual([])
    const outputs = explored.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output)
    expect(outputs).toEqual(expect.arrayContaining([{ isAnswered: true }, { isAnswered: false }]))
  })

  it('of the step recorder machine', () => {
    const explored = explore(stepRecorderMachine, undefined, [
      { type: 'said' },
      { type: 'closed' },
      after('flushInterval', 'step-recorder.open.behind'),
      done('store'),
      error('store'),
    ])
    expect(missing(explored)).toEqual([])
  })

  it('of the run machine', () => {
    const explored = explore(
      runMachine,
      { sessionId: 'ses_1', runId: 'evt_1', policy: { tries: 1, first: 1 } },
      [
        { type: 'abort.requested' },
        { type: 'tool.called', callId: 'a' } as never,
        { type: 'generation.finished' },
        failure(true),
        failure(false),
        { type: 'generation.failed', failure: { code: 'context.overflow', message: 'too large', retryable: false } } as never,
        done('prepare', { tokens: 1, isDue: false }),
        done('prepare', { tokens: 9, isDue: true }),
        ...['compacted', 'nothing', 'failed', 'aborted', 'unrecorded'].map((end) => done('compaction', { end })),
        error('compaction'),
        error('prepare'),
        error('generate'),
        done('closeStep', { follows: true, wasCut: false, isContinuation: false }),
        done('closeStep', { follows: false, wasCut: false, isContinuation: false }),
        done('closeStep', { tokens: 9 }),
        error('closeStep'),
        error('announceRetry'),
        after('retryDelay', 'run.working.backingOff'),
        after('settlesSoon', 'run.working.settling.soon'),
        error('endStreaming'),
        done('recordEnd'),
        error('recordEnd'),
        after('abortDeadline', 'run.ending.aborting'),
        done('call:a', { callId: 'a', end: 'completed' }),
        error('call:a'),
      ],
      {
        key: ({ context: { end, attempt, active, waiting, overflows, compaction } }) => [
          end,
          attempt,
          Math.min(active.length, 1),
          Math.min(waiting.length, 1),
          overflows,
          compaction,
        ],
        maxStates: 800,
        seeds: [
          [done('prepare', { tokens: 1, isDue: false }), ...'abcdefghijk'.split('').map((callId) => ({ type: 'tool.called', callId }))],
        ],
      },
    )
    expect(missing(explored)).toEqual([])
    const ends = new Set(explored.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output.end))
    expect(ends).toEqual(new Set(['finished', 'failed', 'aborted', 'unrecorded']))
  })

  it('of the compaction machine', () => {
    const events = [
      { type: 'abort.requested' },
      { type: 'summary.heard' },
      { type: 'summary.finished' },
      { type: 'summary.failed', failure: { code: 'provider.failed', message: 'refused', retryable: true } } as never,
      { type: 'summary.failed', failure: { code: 'provider.failed', message: 'refused', retryable: false } } as never,
      after('retry', 'compaction.waiting'),
      ...['open', 'record'].flatMap((id) => [done(id, true), done(id, false), error(id)]),
      error('summarise'),
      done('recordEnd'),
      error('recordEnd'),
      after('stall', 'compaction.summarising.listening'),
    ]
    const begun = explore(compactionMachine, { runId: 'evt_1', reason: 'auto' }, events)
    const aborted = explore(compactionMachine, { runId: 'evt_1', reason: 'manual', aborted: true }, events)
    const taken = new Set([...begun.taken, ...aborted.taken])
    expect(missing({ ...begun, taken })).toEqual([])
    const ends = new Set(begun.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output.end))
    expect(ends).toEqual(new Set(['compacted', 'nothing', 'failed', 'aborted', 'unrecorded']))
  })

  it('of the session machine', () => {
    const events = [
      { type: 'woken' },
      { type: 'abort.requested' },
      { type: 'stop.requested' },
      done('claimWork', { kind: 'none' }),
      done('claimWork', { kind: 'settled' }),
      done('claimWork', { kind: 'run', runId: 'evt_1', wantsTitle: true }),
      done('title:evt_1'),
      error('title:evt_1'),
      error('claimWork'),
      done('claimWork', { kind: 'compaction', runId: 'evt_2' }),
      done('compaction', { end: 'compacted' }),
      done('compaction', { end: 'unrecorded' }),
      error('compaction'),
      done('run', { end: 'finished' }),
      done('run', { end: 'failed' }),
      done('run', { end: 'unrecorded' }),
      error('run'),
      done('recordCrash'),
      error('recordCrash'),
      after('idleMemory', 'session.idle'),
      after('faultRetry', 'session.pausing'),
    ]
    const explored = explore(sessionMachine, { sessionId: 'ses_1' }, events, {
      key: ({ context: { faults, ...context } }) => ({ ...context, faults: Math.min(faults, 1) }),
    })
    expect(missing(explored)).toEqual([])
  })

  it('of the checkout machine', () => {
    const explored = explore(checkoutMachine, { worktree: '/srv/here' }, [
      { type: 'used' },
      { type: 'changed' },
      { type: 'lost' },
      { type: 'stop.requested' },
      error('follow'),
      done('look'),
      error('look'),
      after('idle', 'checkout.followed.use.recent'),
    ])
    expect(missing(explored)).toEqual([])
  })

  it('of the index of the search, which is made anew once', () => {
    const explored = explore(searchIndexMachine, undefined, [
      { type: 'changed' },
      { type: 'used' },
      { type: 'stop.requested' },
      done('open', { isNew: true }),
      done('open', { isNew: false }),
      error('open'),
      ...['rebuild', 'catchUp'].flatMap((id) => [done(id, 'current'), done(id, 'damaged'), error(id)]),
      done('discard'),
      error('discard'),
      after('rest', 'search-index.resting'),
      { type: 'filled' },
      after('longest', 'search-index.gathering'),
      after('gathering', 'search-index.gathering.quiet'),
      after('gathering', 'search-index.gathering.busy'),
      after('retry', 'search-index.failed'),
    ])
    expect(missing(explored)).toEqual([])
    expect(explored.snapshots.some(({ value, context }) => value === 'discarding' && !context.wasDiscarded)).toBe(false)
  })

  it('of the title machine, which ends at once when it is stopped', () => {
    const explored = explore(titleMachine, { sessionId: 'ses_1', runId: 'evt_1' }, [
      { type: 'turn.taken' },
      { type: 'turn.refused' },
      { type: 'stop.requested' },
      error('turn'),
      done('generate', true),
      done('generate', false),
      error('generate'),
      after('titleTimeout', 'title.making'),
    ])
    expect(missing(explored)).toEqual([])
    const ends = explored.snapshots.filter(({ status }) => status === 'done').map(({ value }) => String(value))
    expect(ends.toSorted()).toEqual(['givenUp', 'recorded', 'withdrawn'])
  })

  it('of the clone machine, which cleans whatever is not registered', () => {
    const explored = explore(cloneMachine, { name: 'repo-1' }, [
      { type: 'turn.taken' },
      { type: 'turn.refused' },
      { type: 'cancel.requested' },
      { type: 'progressed', phase: 'Receiving objects', percent: 40 } as never,
      error('turn'),
      ...['fetch', 'checkOut', 'register', 'clean'].flatMap((id) => [done(id), error(id)]),
    ])
    expect(missing(explored)).toEqual([])
    const ends = explored.snapshots.filter(({ status }) => status === 'done').map(({ value }) => String(value))
    expect(new Set(ends)).toEqual(new Set(['registered', 'failed', 'cancelled']))
  })

  it.each([false, true])('of the interaction machine, unattended: %s', (isUnattended) => {
    const explored = explore(interactionMachine, { id: 'per_1', kind: 'permission', sessionId: 'ses_1', isUnattended }, [
      { type: 'answer.recorded' },
      { type: 'expiry.recorded' },
      { type: 'withdrawal.recorded' },
      { type: 'asker.left' },
      done('recordExpiry'),
      error('recordExpiry'),
      done('recordWithdrawal'),
      error('recordWithdrawal'),
      after('unattendedWait', 'interaction.asked.waiting.unattended'),
      after('faultRetry', 'interaction.asked.waiting.delayed'),
    ])
    const unused = isUnattended ? /^$/ : /attended --always|unattended --|expiring --|delayed --/
    expect(missing(explored).filter((name) => !unused.test(name))).toEqual([])
    for (const snapshot of explored.snapshots) {
      const isLetGo = snapshot.matches({ asked: 'abandoned' }) || snapshot.status === 'done'
      expect(snapshot.hasTag('awaited')).toBe(!isLetGo)
    }
    const waits = explored.snapshots.map(({ value }) => /"waiting":"(\w+)"/.exec(JSON.stringify(value))?.[1]).filter(Boolean)
    expect(new Set(waits)).toEqual(new Set(isUnattended ? ['unattended', 'expiring', 'delayed'] : ['attended']))
  })

  it.each([undefined, 7])('of the subscription machine after %s', (after) => {
    const explored = explore(subscriptionMachine, { id: 'subscription:1', after }, [
      { type: 'log.read' },
      { type: 'log.pruned' },
      { type: 'reader.left' },
      { type: 'reader.lagged' },
      { type: 'delivery.failed' },
      error('replay'),
      error('deliver'),
    ])
    const unused = after === undefined ? /opening --always\[0\]|replaying --/ : /opening --always\[1\]/
    expect(missing(explored).filter((name) => !unused.test(name))).toEqual([])
    expect(explored.snapshots[0]?.value).toBe(after === undefined ? 'live' : 'replaying')
    const ended = explored.snapshots.filter(({ status }) => status === 'done')
    expect(new Set(ended.map(({ value, output }) => `${String(value)}: ${output.end}`))).toEqual(
      new Set(['lagged: lagged', 'ended: left', 'ended: failed', ...(after === undefined ? [] : ['ended: pruned'])]),
    )
  })

  it.each([false, true])('of the restore machine, recovery: %s', (isRecovery) => {
    const steps = ['check', 'note', 'write', 'record', 'takeBack', 'forget']
    const explored = explore(
      restoreMachine,
      { sessionId: 'ses_1', isRecovery },
      [
        ...steps.flatMap((step) => [done(step), error(step)]),
        done('assess', true),
        done('assess', false),
        error('assess'),
        after('faultRetry', 'restore.backward.pausing'),
      ],
      { key: ({ context }) => context.faults },
    )
    const unused = isRecovery ? /beginning --always\[1\]|checking --|noting --/ : /beginning --always\[0\]|assessing --/
    expect(missing(explored).filter((name) => !unused.test(name))).toEqual([])
    const ends = explored.snapshots.filter(({ status }) => status === 'done').map(({ value }) => String(value))
    const expected = ['abandoned', ...(isRecovery ? [] : ['refused']), 'restored', 'takenBack']
    expect([...new Set(ends)].toSorted()).toEqual(expected)
  })

  it('of the runtime machine', () => {
    const ends = ['recover', 'startPlugins', 'startSessions', 'listen', 'refuse', 'drainSessions', 'drainPlugins', 'closeStore', 'abandon']
    const explored = explore(runtimeMachine, undefined, [
      { type: 'stop.requested' },
      { type: 'kill.requested' },
      ...ends.flatMap((id) => [done(id), error(id)]),
      after('stopDeadline', 'runtime.stopping'),
      after('answersDeadline', 'runtime.stopping.refusing'),
      after('sessionsDeadline', 'runtime.stopping.drainingSessions'),
    ])
    expect(missing(explored)).toEqual([])
  })
})

it('notices a transition that no path takes', () => {
  const explored = explore(toolCallMachine, { runId: 'evt_1', callId: 'call_1' }, [{ type: 'abort.requested' }])
  expect(missing(explored).length).toBeGreaterThan(5)
})
