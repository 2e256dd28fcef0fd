import { expect, test } from 'vitest'
import { claimOccurrence } from '../../../src/plugins/workflows/runs/claim.js'
import { type Activation, createLedger } from '../../../src/plugins/workflows/runs/ledger.js'
import { createRunner, type RunnerDeps } from '../../../src/plugins/workflows/runs/runner.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { WorkflowDefinition, WorkflowRun } from '../../../src/protocol/workflow/workflow.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { playedRows } from '../played-rows.js'

const DEFINITION: WorkflowDefinition = {
  id: 'one',
  name: 'One',
  active: true,
  schedule: { frequency: 'hourly', interval: 1, timezone: 'UTC', minute: 0 },
  prompt: 'Do it.',
}
const ACTIVATION: Activation = {
  projection: {
    activationId: 'wfa_1',
    workflowId: 'one',
    workspaceRoot: '/project',
    sourcePath: '/project/.svc/workflows/one.md',
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

function open() {
  const rows = playedRows()
  const ledger = createLedger(rows, (projection) => projection)
  ledger.commit('process', (tx) => ledger.putActivation(tx, ACTIVATION))
  const claim = (scheduledAt: number) => {
    const activation = ledger.activation('wfa_1') ?? ACTIVATION
    const at = { now: scheduledAt, owner: 'svc_1', runId: `wfr_${scheduledAt}` }
    return claimOccurrence(ledger, { activation, scheduledAt, trigger: 'scheduled', ...at })
  }
  return { rows, ledger, claim }
}

test('the latest thousand runs are kept, however many there were', () => {
  const { rows, ledger, claim } = open()
  const most = LIMITS.workflows.runsKept
  for (let at = 1; at <= most + 700; at++) {
    const claimed = claim(at)
    if (claimed.type === 'claimed') {
      ledger.commit('process', (tx) => ledger.putRun(tx, { ...claimed.run, status: 'completed', finishedAt: at }))
    }
  }
  const kept = rows.list('run').map(({ sort }) => sort)
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([most, 701, most + 700])
  expect(rows.list('claim').map(({ sort }) => sort)).toEqual(kept)
})

test('a retry does not begin once the service begins to stop, though its file was being read', async () => {
  const { ledger, claim } = open()
  const claimed = claim(1)
  if (claimed.type !== 'claimed') throw new Error('not claimed')
  const waiting: WorkflowRun = { ...claimed.run, status: 'retry_waiting', nextAttemptAt: 1 }
  ledger.commit('process', (tx) => ledger.putRun(tx, waiting))
  const effects = createFakeEffects()
  let isStopping = false
  let read: (() => void) | undefined
  const host = { effects, sessions: {}, stopping: new AbortController().signal, actors: { add: () => undefined } }
  const runner = createRunner({
    host: host as unknown as RunnerDeps['host'],
    ledger,
    isOver: () => isStopping,
    onEnded: () => undefined,
    current: () =>
      new Promise((resolve) => {
        read = () =>
          resolve({
            isAccepted: true,
            found: {
              id: 'one',
              definition: DEFINITION,
              sourcePath: '/project/.svc/workflows/one.md',
              sourceHash: 'a',
              root: { path: '/project/.svc', owner: '/project', within: '/project' },
            },
          })
      }),
  })
  await runner.resume()
  await effects.clock.advanceAsync(0)
  expect(read).toBeDefined()
  isStopping = true
  read?.()
  await effects.clock.advanceAsync(0)
  expect([runner.running, ledger.run(waiting.id)?.status]).toEqual([0, 'retry_waiting'])
  await runner.drain()
  expect([runner.running, ledger.run(waiting.id)?.status]).toEqual([0, 'retry_waiting'])
})

test('an attempt that was put off beyond all exact numbers is known to the next start', () => {
  const { rows, ledger, claim } = open()
  const claimed = claim(1)
  if (claimed.type !== 'claimed') throw new Error('not claimed')
  const waiting: WorkflowRun = { ...claimed.run, status: 'retry_waiting', nextAttemptAt: Number.MAX_SAFE_INTEGER * 1024 }
  ledger.commit('process', (tx) => ledger.putRun(tx, waiting))
  expect(createLedger(rows, (projection) => projection).open()).toEqual([waiting])
})
