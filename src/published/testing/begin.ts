/** A whole runtime on fake effects: what the library starts, and what svc's own tests start. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NativePlugin } from '../../ports/plugin.js'
import type { PluginPrograms } from '../../actors/plugin/start-plans.js'
import { createRuntime, type RunningRuntime } from '../../actors/runtime/runtime.js'
import { openStore } from '../../store/open.js'
import type { Store } from '../../store/store.js'
import type { FakeEffects } from '../../simulation/effects.js'
import { hear, type Heard } from './heard.js'
import { PLAYED_CONFIG } from './steps.js'

export interface BeginOptions {
  readonly effects: FakeEffects
  /** In memory when absent. */
  readonly store?: Store | undefined
  readonly plugins: readonly NativePlugin[]
  /** Of the installation, over the one of the played model. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
  readonly programs: PluginPrograms
  readonly version: string
  /** Traces can be replayed. */
  readonly inspectPayloads?: boolean | undefined
}

export interface Begun {
  readonly running: RunningRuntime
  readonly store: Store
  readonly heard: Heard
  /** Stops it on its clock. Idempotent. */
  stop(): Promise<void>
}

/** Longer than every step of a stop may take. */
const STOPPED = 6000

export async function begin({ effects, config, plugins, programs, version, ...given }: BeginOptions): Promise<Begun> {
  mkdirSync(effects.paths.config, { recursive: true })
  writeFileSync(join(effects.paths.config, 'config.json'), JSON.stringify({ ...PLAYED_CONFIG, ...config }))
  mkdirSync(join(effects.paths.home, '.svc'), { recursive: true })
  const store = given.store ?? openStore({ directory: ':memory:', now: () => effects.clock.now() })
  const running = await createRuntime({ effects, store, plugins, version, programs, inspectPayloads: given.inspectPayloads ?? false })
  let stopped: Promise<void> | undefined

  async function stop(): Promise<void> {
    const ended = running.stop()
    await effects.clock.advanceAsync(STOPPED)
    await ended
  }

  return { running, store, heard: hear(running.runtime), stop: () => (stopped ??= stop()) }
}
