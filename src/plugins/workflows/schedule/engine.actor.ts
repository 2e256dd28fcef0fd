/** The effects of the machine of scheduled workflows. */
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromPromise } from 'xstate'
import { workflowEngineMachine } from '../../../machines/workflows/workflow-engine.machine.js'
import { toFailure } from '../../../protocol/errors.js'
import type { Effects } from '../../../ports/effects.js'
import { workspaceContext } from '../files/places.js'
import type { Library } from '../files/library.js'
import type { Ledger } from '../runs/ledger.js'
import type { Runner } from '../runs/runner.js'
import type { Acceptance, Settings } from '../settings.js'
import type { Activations } from './activations.js'
import type { Following } from './following.js'

export interface EngineDeps {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly ledger: Pick<Ledger, 'workspaces'>
  readonly settings: Settings
  readonly library: Pick<Library, 'follow' | 'stop'>
  readonly runner: Runner
  readonly activations: Activations
  readonly following: Following
  /** Tracked before the start: its files are followed by it. */
  onTracked(directory: string): void
}

const BELIEVED: Readonly<Record<Acceptance, string>> = {
  repository: 'workflow files run as soon as they are saved; those that came with a checkout run once their content was accepted',
  required: 'workflow files of a workspace run only once their content was accepted',
  files: 'workflow files that say so run by schedule as soon as they are there, also those of a checkout',
}

export function workflowEngineLogic(deps: EngineDeps) {
  const { effects, ledger, settings, library, runner, activations, following, onTracked } = deps
  const { clock, log } = effects
  const began = clock.monotonic()
  /** The step of the start that was begun last: what it does ends before the end of everything. */
  let step: Promise<void> = Promise.resolve()

  const starting = (work: (signal: AbortSignal) => Promise<void>) =>
    fromPromise<void, void>(async ({ signal }) => {
      step = work(signal)
      try {
        await step
      } catch (error) {
        if (!signal.aborted) log.error('scheduled workflows did not start', { cause: String(error) })
        throw error
      }
    })

  return chartOf(workflowEngineMachine).provide({
    actors: {
      recover: starting(() => runner.recover()),
      follow: starting(async (signal) => {
        await settings.refresh()
        log.info(`${BELIEVED[settings.acceptance]} (workflows.acceptance is "${settings.acceptance}")`, { acceptance: settings.acceptance })
        for (const directory of ledger.workspaces()) {
          onTracked(directory)
          if (signal.aborted) return
          await library.follow(workspaceContext(directory))
        }
      }),
      arm: starting(async (signal) => {
        await following.all()
        await activations.start()
        if (signal.aborted) return
        await runner.resume()
        const ms = Math.round(clock.monotonic() - began)
        log.info('workflows follow their files', { workspaces: ledger.workspaces().length, expecting: activations.expecting, ms })
      }),
      beat: fromPromise<void, void>(async () => {
        try {
          runner.renew()
        } catch (error) {
          log.warn('leases of workflow runs could not be renewed', { cause: toFailure(error).message })
        }
        await following.followSettings()
        await following.recheck()
      }),
      recheck: fromPromise<void, void>(() => following.recheck()),
      refuse: fromPromise<void, void>(async () => runner.refuse()),
      drain: fromPromise<void, void>(async () => {
        library.stop()
        activations.stop()
        await Promise.allSettled([runner.drain(), step])
      }),
    },
  })
}
