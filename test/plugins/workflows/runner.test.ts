// Holds subsystems a.10.
import { expect, test } from 'vitest'
import type { AnyActorRef } from 'xstate'
import type { Executable } from '../../../src/plugins/workflows/runs/fitness.js'
import { claimOccurrence } from '../../../src/plugins/workflows/runs/claim.js'
import { type Activation, createLedger } from '../../../src/plugins/workflows/runs/ledger.js'
import { createRunner, type RunnerDeps } from '../../../src/plugins/workflows/runs/runner.js'
import type { WorkflowDefinition, WorkflowRun } from '../../../src/protocol/workflow/workflow.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { playedRows } from '../played-rows.js'

const HOUR = 3_600_000
const DEFINITION: WorkflowDefinition = {
  id: 'one',
  name: 'One',
  active: true,
  schedule: { frequency: 'hourly', interval: 1, timezone: 'UTC', minute: 0 },
  prompt: 'Do it.',
  retry: { maxAttempts: 2, backoff: 'fixed', initialDelayMs: HOUR, maxDelayMs: 0, retryableErrors: [] },
}

/** Processes that come one after another, with the rows they share. */
function world() {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  const sourcePath = `${directory}/.svc/workflows/one.md`
  const activation: Activation = {
    projection: {
      activationId: 'wfa_1',
      workflowId: 'one',
      workspaceRoot: directory,
      sourcePath,
      sourceHash: 'a',
      definition: DEFINITION,
      active: true,
      activatedAt: 0,
      updated: 0,
    },
    notBefore: 0,
    isLost: false,
    runs: 0,
  }
  const executable: Executable = {
    isAccepted: true,
    found: {
      id: 'one',
      definition: DEFINITION,
      sourcePath,
      sourceHash: 'a',
      root: { path: `${directory}/.svc`, owner: directory, within: directory },
    },
  }
  const rows = playedRows()
  const told: string[] = []
  let admit: () => void = () => undefined
  let isPromptSlow = false

  function process() {
    const ledger = createLedger(rows, (projection) => projection)
    const actors = new Map<string, AnyActorRef>()
    const stopping = new AbortController()
    const sessions = {
      get: (id: string) => ({ id }),
      async create(_directory: string, _request: object, _extra: object, along: (tx: unknown, session: { id: string }) => void) {
        ledger.commit('power', (tx) => along(tx, { id: 'ses_1' }))
        return { id: 'ses_1' }
      },
      prompt: () => (isPromptSlow ? new Promise<void>((resolve) => (admit = resolve)) : Promise.resolve()),
      settled: async () => undefined,
      outcome: () => ({ ok: false, error: 'the model said no' }),
      refusals: () => [],
      clearQueue: (id: string) => void told.push(`clear ${id}`),
      abort: async (id: string) => void told.push(`abort ${id}`),
    }
    const runner = createRunner({
      host: {
        effects,
        sessions,
        stopping: stopping.signal,
        actors: { add: (ref: AnyActorRef, kind: string) => void actors.set(`${kind} ${ref.id}`, ref) },
      } as unknown as RunnerDeps['host'],
      ledger,
      isOver: () => false,
      current: async () => executable,
      onEnded: () => undefined,
    })
    const states = () => [...actors.values()].map((ref) => ref.getSnapshot().value as unknown)
    return {
      ledger,
      runner,
      actors,
      states,
      begin(number = 1, trigger: 'manual' | 'scheduled' = 'manual') {
        ledger.commit('process', (tx) => ledger.putActivation(tx, activation))
        const at = { now: effects.clock.now(), owner: runner.owner, runId: `wfr_${number}` }
        runner.begin(claimOccurrence(ledger, { activation, scheduledAt: number, trigger, ...at }), executable)
      },
      statuses: () => ledger.runs('wfa_1', 10).map(({ status }: WorkflowRun) => status),
    }
  }
  return {
    effects,
    told,
    process,
    slowPrompt() {
      isPromptSlow = true
    },
    admit: () => admit(),
    async settle() {
      for (let turn = 0; turn < 6; turn++) {
        await effects.files.readDirectory(directory)
        await effects.clock.advanceAsync(0)
      }
    },
  }
}

test('a run is an actor until it has ended; its next attempt is one from the moment it is noted, also after a restart', async () => {
  const { process, settle, effects } = world()
  const first = process()
  first.begin()
  expect(first.states()).toEqual([{ working: 'queued' }])
  await settle()
  expect(first.states()).toEqual(['failed', { 'retry-waiting': 'sleeping' }])
  expect([...first.actors.keys()][0]).toBe('workflow-run workflow-run:wfr_1')
  expect(first.statuses()).toEqual(['retry_waiting', 'failed'])
  await first.runner.drain()
  expect(first.states()).toEqual(['failed', 'parked'])

  const second = process()
  await second.runner.recover()
  await second.runner.resume()
  expect([second.states(), second.runner.running]).toEqual([[{ 'retry-waiting': 'sleeping' }], 0])
  await effects.clock.advanceAsync(HOUR)
  await settle()
  expect([second.states(), second.statuses()]).toEqual([['failed'], ['failed', 'failed']])
  const third = process()
  await third.runner.resume()
  expect(third.actors.size).toBe(0)
})

test('an attempt that is due while another run is under way begins when that has ended, and nothing is written meanwhile', async () => {
  const { process, settle, effects, slowPrompt, admit } = world()
  const { begin, states, ledger } = process()
  begin()
  await settle()
  slowPrompt()
  begin(9)
  await settle()
  const waiting = () => ledger.open().find(({ retryOf }) => retryOf === 'wfr_1')
  const before = waiting()
  await effects.clock.advanceAsync(2 * HOUR)
  expect(states()).toEqual(['failed', { 'retry-waiting': 'reclaiming' }, { working: 'submitted' }])
  expect(waiting()).toBe(before)
  admit()
  await settle()
  expect(states().slice(0, 3)).toEqual(['failed', { working: 'submitted' }, 'failed'])
})

test('an attempt that waits for another run is given up once its workflow is paused', async () => {
  const { process, settle, effects, slowPrompt } = world()
  const { begin, states, ledger } = process()
  begin(1, 'scheduled')
  await settle()
  slowPrompt()
  begin(9)
  await effects.clock.advanceAsync(2 * HOUR)
  await settle()
  expect(states()[1]).toEqual({ 'retry-waiting': 'reclaiming' })
  const activation = ledger.activation('wfa_1')
  if (activation === undefined) throw new Error('it is gone')
  ledger.commit('process', (tx) => ledger.noteActivation(tx, { ...activation, projection: { ...activation.projection, active: false } }))
  await settle()
  expect(states()).toEqual(['failed', 'failed', { working: 'submitted' }])
})

test('what an earlier process left under way is ended as interrupted and not begun again', async () => {
  const { process, settle, slowPrompt, told } = world()
  slowPrompt()
  const first = process()
  first.begin()
  await settle()
  expect(first.states()).toEqual([{ working: 'submitted' }])
  const second = process()
  await second.runner.recover()
  expect(second.states()).toEqual(['interrupted', { 'retry-waiting': 'sleeping' }])
  expect(second.statuses()).toEqual(['retry_waiting', 'interrupted'])
  expect(told).toEqual(['clear ses_1'])
})

test('a prompt that is admitted after its run was ended is withdrawn', async () => {
  const { process, settle, slowPrompt, admit, told } = world()
  slowPrompt()
  const { begin, runner, states } = process()
  begin()
  await settle()
  await runner.drain()
  expect([states()[0], told]).toEqual(['interrupted', ['abort ses_1']])
  admit()
  await settle()
  expect(told).toEqual(['abort ses_1', 'clear ses_1', 'abort ses_1'])
})
