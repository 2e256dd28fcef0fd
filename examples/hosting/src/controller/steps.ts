/**
 * What the chart of a worker does (machines/worker.machine.ts): reads the row, asks the provider or the worker, writes what there is.
 *
 * I1 Each step reads the row anew and writes for the generation that it has read: nothing is remembered from step to step.
 * I2 A machine that was ended on purpose goes on in its generation; one that ended by itself never does.
 */
import type { Activity } from '../database/activity.js'
import type { Bindings, Change } from '../database/bindings.js'
import type { Hold } from '../database/leases.js'
import type { BoundWorkspace } from '../database/rows.js'
import { type Finding, type Step, StepError } from '../machines/worker.machine.js'
import { type Provider, ProviderFailure, type Verb } from '../provider/provider.js'
import type { MachineStatus, WorkspaceKey } from '../records/machines.js'
import type { Times } from './config.js'
import { type Launches, seconds } from './launches.js'
import type { Workers } from './worker-client.js'

export interface StepParts {
  readonly bindings: Bindings
  readonly activity: Activity
  readonly provider: Provider
  readonly workers: Workers
  readonly launches: Launches
  readonly times: Times
}

export interface Steps {
  decide(): Promise<Step>
  run(): Promise<{ readonly isReady: boolean }>
  verify(): Promise<void>
  inspect(): Promise<Finding>
  stop(): Promise<void>
  advance(): Promise<void>
  destroy(): Promise<void>
}

const COMING: readonly string[] = ['provisioning', 'starting', 'running']

export function createSteps({ bindings, activity, provider, workers, launches, times }: StepParts, key: WorkspaceKey, hold: Hold): Steps {
  async function read(): Promise<BoundWorkspace> {
    const bound = await bindings.find(key)
    if (bound === undefined) throw new StepError('fenced', 'the binding is gone')
    return bound
  }

  const write = ({ binding }: BoundWorkspace, change: (now: BoundWorkspace) => Change | undefined) =>
    bindings.amend(key, hold, binding.allocation.generation, change)

  /** Asks the provider about the machine of the row, and writes what went wrong. */
  async function ask(verb: Verb, bound: BoundWorkspace): Promise<MachineStatus> {
    const { allocation, status } = bound.binding
    try {
      return await provider.ask(verb, allocation, verb === 'ensure' ? null : (status?.handle ?? null))
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      const isTold = (known: unknown) => JSON.stringify(known) === JSON.stringify(error.error)
      await write(bound, ({ binding }) => (isTold(binding.last_error) ? undefined : { last_error: error.error }))
      throw new StepError(error.error.retryable || error.error.code === 'unauthorized' ? 'failed' : 'unusable', error.message, {
        cause: error,
      })
    }
  }

  async function findings(bound: BoundWorkspace): Promise<Finding> {
    const { allocation, pending, status } = bound.binding
    if (pending != null) return 'asked'
    const now = await ask('inspect', bound)
    if (now.state !== 'running' || now.connection == null) return 'gone'
    if (!now.ready) return 'silent'
    if (status?.connection?.agent_api_base_url !== now.connection.agent_api_base_url) {
      await write(bound, () => ({ status: now, verification: null, pending: 'ensure' }))
      return 'asked'
    }
    const left = allocation.launch == null ? 0 : launches.left(allocation.launch)
    if (left < times.replace) return 'expiring'
    const isQuiet = await activity.isQuiet(key, Math.min(times.idle, left < times.renew ? 5 : Number.POSITIVE_INFINITY))
    if (!isQuiet || (await workers.isBusy(allocation, now.connection))) return 'well'
    return left < times.renew ? 'expiring' : 'idle'
  }

  return {
    async decide() {
      const { allocation, pending, retired, status } = (await read()).binding
      if (retired) return 'rest'
      if (pending === 'destroy') return 'destroy'
      if (pending === 'stop' || status?.state === 'stopping') return 'stop'
      if (pending == null && !COMING.includes(status?.state ?? '')) return 'rest'
      const isExpiring = allocation.launch == null || launches.left(allocation.launch) < times.replace
      return isExpiring || status?.state === 'failed' ? 'replace' : 'run'
    },
    async run() {
      const bound = await read()
      const { status } = bound.binding
      const isKnown = status != null && COMING.includes(status.state)
      const now = await ask(isKnown ? 'inspect' : status?.state === 'stopped' ? 'start' : 'ensure', bound)
      if (isKnown && !COMING.includes(now.state)) throw new StepError('unusable', 'the machine has ended by itself')
      // What has not changed is not told again: its owner would be woken by its own words.
      if (JSON.stringify(now) !== JSON.stringify(status))
        await write(bound, () => ({ status: now, ...(now.ready && { last_error: null }) }))
      if (!COMING.includes(now.state)) throw new StepError('failed', `the machine is ${now.state}`)
      return { isReady: now.ready }
    },
    async verify() {
      const bound = await read()
      const { allocation, status } = bound.binding
      if (status?.connection == null || allocation.launch == null) throw new StepError('failed', 'there is no connection')
      if (!(await workers.isGenuine(allocation, status.connection))) {
        await write(bound, () => ({ last_error: { code: 'identity', retryable: false } }))
        throw new StepError('unusable', 'the worker is somebody else')
      }
      const { launch } = allocation
      // How long nobody has used it counts from here at the soonest.
      await activity.used(hold.holder, [key])
      await write(bound, ({ binding }) => ({
        last_error: null,
        ...((binding.pending === 'ensure' || binding.pending === 'start') && { pending: null }),
        verification: {
          handle: status.handle,
          descriptor: launch,
          revision: binding.revision,
          at: seconds(),
          expires_at: launch.expires_at,
        },
      }))
    },
    inspect: async () => findings(await read()),
    async stop() {
      const bound = await read()
      const { status } = bound.binding
      if (status == null)
        return void (await write(bound, ({ binding }) => ({ pending: binding.pending === 'stop' ? null : (binding.pending ?? null) })))
      // Told to all controllers before it ends: whoever is asked from now on waits for it to wake.
      await write(bound, () => ({
        status: { ...status, state: 'stopping', ready: false, connection: null, failure: null },
        verification: null,
      }))
      const now = await ask('stop', bound)
      await write(bound, ({ binding }) => ({ status: now, pending: binding.pending === 'stop' ? null : (binding.pending ?? null) }))
    },
    async advance() {
      const bound = await read()
      const { generation } = bound.binding.allocation
      await write(bound, ({ binding }) => ({
        generation: generation + 1,
        launch: launches.next(),
        status: null,
        verification: null,
        pending: binding.pending ?? 'ensure',
      }))
    },
    async destroy() {
      const bound = await read()
      const { status } = bound.binding
      // Of what was never asked for nothing is there.
      const now = status == null ? null : await ask('destroy', bound)
      await write(bound, () => ({ status: now, pending: null, retired: true, verification: null }))
    },
  }
}
