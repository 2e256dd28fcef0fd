// Holds plugin-protocol §1.2, §3.6, §4.1.
import type { AnyMachineSnapshot, SnapshotFrom } from 'xstate'
import { describe, expect, it } from 'vitest'
import type { Assessment } from '../../../src/machines/plugin/assessment.js'
import { generationMachine } from '../../../src/machines/plugin/generation.machine.js'
import { handlesMachine } from '../../../src/machines/plugin/handles.machine.js'
import { instanceMachine } from '../../../src/machines/plugin/instance.machine.js'
import { leaseMachine } from '../../../src/machines/plugin/lease.machine.js'
import { packageMachine } from '../../../src/machines/plugin/package.machine.js'
import { packageStateOf } from '../../../src/machines/plugin/package-state.js'
import { PACKAGE_STATES } from '../../../src/protocol/plugin/plugin.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const after = (delay: string, node: string) => ({ type: `xstate.after.${delay}.${node}` })

const found = (verdict: Assessment['verdict'], revision: string, more: Partial<Assessment> = {}): Assessment => ({
  verdict,
  revision,
  signature: `${revision} options`,
  diagnostics: [],
  approved: verdict === 'trusted' ? [revision] : [],
  retained: undefined,
  ...more,
})

const ASSESSMENTS: readonly Assessment[] = [
  found('trusted', 'a'),
  found('trusted', 'a', { signature: 'a other options' }),
  found('trusted', 'b', { approved: ['a', 'b'] }),
  found('untrusted', 'b', { approved: ['a'], retained: 'a' }),
  found('untrusted', 'c'),
  found('disabled', 'a'),
  found('disabled', 'b'),
  found('invalid', ''),
  found('ungranted', 'c'),
]

const numbers = [1, 2]
const [GOOD] = ASSESSMENTS

/** Serves, ends by itself, and is refused on every attempt to bring it back. */
const COLLAPSE = [
  { type: 'generation.published', number: 1, revision: 'a' },
  { type: 'generation.unavailable', number: 1, reason: 'it ended' },
  ...[2, 3, 4].flatMap((number) => [
    after('restartDelay', 'package.running.degraded'),
    done(`generation:${number}`, { number, reason: 'no answer' }),
  ]),
]

const explorePackage = (strict: boolean, assessments: readonly Assessment[]) =>
  explore(
    packageMachine,
    { key: 'dev.example.one', strict, before: 0 },
    [
      ...assessments.map((assessment) => ({ type: 'assessed', assessment })),
      { type: 'wanted' },
      { type: 'unwanted' },
      { type: 'removed' },
      { type: 'stop.requested' },
      { type: 'restore.requested' },
      { type: 'conflict.changed' },
      done('keepCopy'),
      error('keepCopy'),
      after('restartDelay', 'package.running.degraded'),
      after('restartWindow', 'package.running.serving.active'),
      after('restartWindow', 'package.running.serving.update-available'),
      ...numbers.flatMap((number) => [
        { type: 'generation.published', number, revision: 'a' },
        { type: 'generation.unavailable', number, reason: 'it ended' },
        { type: 'hook.failed', number, reason: 'tool.before failed' },
        { type: 'hook.succeeded', number },
        done(`generation:${number}`, { number, end: 'refused', reason: 'no answer' }),
        error(`generation:${number}`),
      ]),
    ],
    {
      key: keyOf,
      maxStates: 1500,
      seeds: [[{ type: 'wanted' }, { type: 'assessed', assessment: GOOD }, done('keepCopy'), ...COLLAPSE] as never],
    },
  )

/** Generations are numbered upwards for ever; what matters is how they stand to each other. */
function keyOf({ context }: AnyMachineSnapshot): unknown {
  const { assessment, wanted, serving, candidate, lastNumber, strikes, reason, refused } = context
  return [
    assessment?.verdict,
    assessment?.signature,
    wanted,
    serving?.signature,
    candidate?.revision,
    Math.min(lastNumber, 2),
    Math.min(strikes, 1),
    reason !== undefined,
    refused !== undefined,
  ]
}

/** One of the eleven names, or the state of the machine itself. */
function nameOf(snapshot: AnyMachineSnapshot): string {
  return packageStateOf(snapshot as SnapshotFrom<typeof packageMachine>) ?? String(snapshot.value)
}

describe('every transition is covered by generated paths', () => {
  it('of the generation machine', () => {
    const explored = explore(generationMachine, { key: 'dev.example.one', number: 1, revision: 'a' }, [
      { type: 'superseded' },
      { type: 'switched.off' },
      { type: 'revoked' },
      { type: 'instance.failed', reason: 'it exited' } as never,
      ...['start', 'publish', 'drain', 'retire', 'kill'].flatMap((id) => [done(id), error(id)]),
      error('watch'),
      { type: 'process.prepared', instanceId: 'plugin-instance-1' } as never,
      error('instance'),
      after('drainLimit', 'generation.draining'),
      after('offLimit', 'generation.leaving'),
      after('shutdownGrace', 'generation.retiring'),
      after('killLimit', 'generation.killing'),
    ])
    expect(missing(explored)).toEqual([])
    const ends = explored.snapshots.filter(({ status }) => status === 'done').map(({ output }) => output.end)
    expect(new Set(ends)).toEqual(new Set(['refused', 'failed', 'retired']))
  })

  it('of the instance machine, which has failed only by itself', () => {
    const ended = (exitCode: number | null) => ({ type: 'process.ended', ending: { exitCode, signal: null, lastWords: 'bye' } }) as never
    const events = [
      ...['drain.requested', 'retire.requested', 'kill.requested', 'start.cancelled', 'call.made'].map((type) => ({ type })),
      { type: 'rule.broken', reason: 'it floods' } as never,
      ended(3),
      ended(null),
      ...['spawn', 'initialize', 'retire', 'kill'].flatMap((id) => [done(id), error(id)]),
      error('process'),
    ]
    const explored = explore(instanceMachine, { instanceId: 'plugin-instance-1', isKnown: false }, events)
    const rested = explore(instanceMachine, { instanceId: 'plugin-instance-1', isKnown: true }, events)
    expect(missing(explored).filter((each) => missing(rested).includes(each))).toEqual([])
    const uncalled = rested.snapshots.filter(
      ({ context }, index) => context.reason !== undefined && rested.paths[index]?.includes('call.made') !== true,
    )
    expect(uncalled).toEqual([])
    expect(rested.snapshots.filter(({ context: { failure, reason } }) => failure !== undefined && reason === undefined)).toEqual([])
    const told = (served: boolean) =>
      new Set(
        explored.snapshots
          .filter(({ status, context }, index) => {
            const wasServing = explored.paths[index]?.includes('xstate.done.actor.initialize') === true
            return status === 'done' && wasServing === served && (context.failure ?? context.reason) !== undefined
          })
          .map(({ context }) => context.reason ?? context.failure.message),
      )
    expect(told(false)).toEqual(
      new Set([
        'broken',
        'The start was cancelled.',
        'The plugin did not start: it floods',
        'The plugin did not start: The plugin process exited with code 3. The last line of its log: bye',
        'The plugin did not start: The plugin process closed its output. The last line of its log: bye',
      ]),
    )
    expect(told(true)).toEqual(new Set(['it floods', 'The plugin process exited with code 3.', 'The plugin process closed its output.']))
    const retired = explored.paths.filter((path) => path.includes('retire.requested'))
    expect(retired.filter((path) => explored.snapshots[explored.paths.indexOf(path)]?.context.reason !== undefined)).toEqual([])
  })

  it('of the lease machine, which is over when nothing is open, or its time is', () => {
    const explored = explore(
      leaseMachine,
      { key: 'plugin-instance-1/network', pluginId: 'dev.example.one', generation: 1, capability: 'network' },
      [
        { type: 'call.begun' },
        { type: 'call.ended', isDenied: true, bytes: 3 } as never,
        { type: 'resource.opened' },
        { type: 'resource.closed' },
        { type: 'revoked' },
        done('free'),
        error('free'),
        after('freeLimit', 'lease.freeing'),
      ],
      { maxStates: 200, key: ({ context }) => [context.calls > 0, Math.sign(context.running), Math.sign(context.open), context.isOverdue] },
    )
    expect(missing(explored)).toEqual([])
    const answering = explored.snapshots.filter((snapshot) => snapshot.hasTag('answering'))
    expect(new Set(answering.map(({ value }) => value))).toEqual(new Set(['granted', 'used']))
    const afterwards = explored.paths.flatMap((path, index) => (path.includes('revoked') ? (explored.snapshots[index] ?? []) : []))
    expect(afterwards.filter((snapshot) => snapshot.hasTag('answering'))).toEqual([])
    const overdue = explored.snapshots.filter(({ status, context }) => status === 'done' && context.isOverdue)
    expect(overdue.length).toBeGreaterThan(0)
  })

  it('of the machine of handles, which gives none once it is revoked, and is over when none is open, or its time is', () => {
    const explored = explore(
      handlesMachine,
      { pluginId: 'dev.example.one', instanceId: 'plugin-instance-1', generation: 1 },
      [
        { type: 'handle.issued' },
        { type: 'handle.closed' },
        { type: 'handle.refused' },
        { type: 'revoked' },
        after('freeLimit', 'handles.closing'),
      ],
      { maxStates: 200, key: ({ context }) => [Math.sign(context.issued), Math.sign(context.open), context.refused > 0] },
    )
    expect(missing(explored)).toEqual([])
    const afterwards = explored.paths.flatMap((path, index) => (path.includes('revoked') ? (explored.snapshots[index] ?? []) : []))
    expect(afterwards.filter((snapshot) => snapshot.hasTag('issuing'))).toEqual([])
  })

  it('of the package machine, in all eleven states', () => {
    const explorations = [explorePackage(true, ASSESSMENTS), explorePackage(false, ASSESSMENTS.slice(0, 1))]
    const taken = new Set(explorations.flatMap((explored) => [...explored.taken]))
    const [first] = explorations
    expect([...(first?.all ?? [])].filter((name) => !taken.has(name))).toEqual([])
    const visited = new Set(explorations.flatMap(({ snapshots }) => snapshots.map(nameOf)))
    expect(PACKAGE_STATES.filter((state) => state !== 'trusted' && !visited.has(state))).toEqual([])

    const contextsIn = (...states: readonly string[]) =>
      explorations
        .flatMap(({ snapshots }) => snapshots)
        .filter((snapshot) => states.includes(nameOf(snapshot)))
        .map(({ context }) => context)
    const idle = contextsIn('disabled', 'permission-required', 'failed', 'leaving', 'gone')
    expect(contextsIn('active').filter(({ serving }) => serving === undefined)).toEqual([])
    expect(contextsIn('enabled', 'loading').filter(({ assessment }) => assessment.verdict !== 'trusted')).toEqual([])
    expect(idle.filter(({ serving, candidate }) => serving !== undefined || candidate !== undefined)).toEqual([])
  })
})
