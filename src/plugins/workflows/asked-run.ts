/** Runs that somebody asks for. */
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { WorkflowRun } from '../../protocol/workflow/workflow.js'
import type { Effects } from '../../ports/effects.js'
import type { Found } from './files/catalog.js'
import type { Given } from './given.js'
import { claimOccurrence } from './runs/claim.js'
import type { Executable, Fitness } from './runs/fitness.js'
import { freeSlot } from './runs/retry.js'
import type { Engine } from './schedule/engine.js'
import { currentActivation, findNow, knownRun, type Seekers } from './sought.js'
import { revisionOf } from './views.js'

const REPEATABLE: ReadonlySet<WorkflowRun['status']> = new Set(['failed', 'interrupted', 'replaced'])

export interface Runners extends Seekers, Pick<Engine, 'runner' | 'fitness'> {
  readonly effects: Seekers['effects'] & Pick<Effects, 'clock'>
}

type Asked = Pick<Parameters<typeof claimOccurrence>[1], 'activation' | 'scheduledAt' | 'trigger' | 'retryOf'>

export async function runNow(runners: Runners, given: Given): Promise<WorkflowRun> {
  const { ledger, effects } = runners
  const found = await findNow(runners, given)
  const ready = await executable(runners, found)
  const activation = await currentActivation(runners, given, found)
  const { activationId } = activation.projection
  const scheduledAt = freeSlot(ledger, { activationId, scheduledAt: effects.clock.now() - 1 })
  return begin(runners, { activation, scheduledAt, trigger: 'manual' }, ready)
}

export async function repeatRun(runners: Runners, given: Given): Promise<WorkflowRun> {
  const run = knownRun(runners, given)
  if (!REPEATABLE.has(run.status)) {
    throw new SvcError('resource.conflict', `A run that is "${run.status}" cannot be repeated.`, { runId: run.id, status: run.status })
  }
  const found = await findNow(runners, given)
  const ready = await executable(runners, found)
  const activation = await currentActivation(runners, given, found)
  return begin(runners, { activation, scheduledAt: freeSlot(runners.ledger, run), trigger: 'manual-retry', retryOf: run }, ready)
}

function begin({ ledger, runner, effects }: Runners, asked: Asked, ready: Executable): WorkflowRun {
  const claim = claimOccurrence(ledger, { ...asked, now: effects.clock.now(), runId: runner.nextRunId(), owner: runner.owner })
  if (claim.type !== 'claimed') {
    throw new SvcError('resource.conflict', 'The workflow is running, and its concurrency policy allows no other run.', {
      workflowId: ready.found.id,
    })
  }
  runner.begin(claim, ready)
  return claim.run
}

async function executable({ fitness, runner }: Runners, found: Found): Promise<Executable> {
  const [fit] = await fitness([found])
  const { id, sourcePath, sourceHash } = found
  const unaccepted = fit?.obstacles.find(({ code }) => code === 'acceptance-required')
  if (fit === undefined || unaccepted !== undefined) {
    const details = { workflowId: id, sourcePath, revision: revisionOf(sourceHash), reason: 'acceptance-required' }
    throw new SvcError('request.forbidden', `${sourcePath} ${unaccepted?.message ?? 'cannot be judged'}.`, details)
  }
  refuseMissing(found, fit)
  if (runner.running >= LIMITS.workflows.running) {
    throw new SvcError('quota.exceeded', `${LIMITS.workflows.running} runs of workflows are under way; try again later.`)
  }
  return { found, isAccepted: fit.isAccepted }
}

/** Refuses a directory that is not there; who may act on a content is for the caller. */
export function refuseMissing({ id, sourcePath }: Found, fit: Fitness | undefined): void {
  const missing = fit?.obstacles.find(({ code }) => code === 'directory-missing')
  if (missing === undefined) return
  throw new SvcError('request.unprocessable', `The workflow "${id}" cannot run: ${missing.message}.`, {
    workflowId: id,
    sourcePath,
    reason: missing.code,
  })
}
