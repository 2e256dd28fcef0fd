/**
 * The built-in plugins: which of them run, as the configuration of the installation says, and what they are listed as
 * (choices 22; subsystems o.3).
 *
 * I1 One that is off was never started, or has stopped; on again, it starts as another generation.
 * I2 One that needs a capability that is off is off, too, and says so.
 * I3 The configuration is looked at when its directory changes, when a workspace is looked at, and when somebody asks for plugins
 *    or capabilities. Nothing looks from time to time: where the directory is not there yet, or cannot be watched, what is done
 *    next looks, and whoever does nothing notices nothing.
 */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { createActor, fromPromise } from 'xstate'
import type { Capability } from '../../../protocol/system/system.js'
import type { Assessment } from '../../../machines/plugin/assessment.js'
import { leave, lookedAnew } from '../../../kernel/looked.js'
import { lookMachine } from '../../../machines/look/look.machine.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { Effects } from '../../../ports/effects.js'
import type { NativeHost, NativePlugin } from '../../../ports/plugin.js'
import { createNativeStarter } from '../native/native-instance.js'
import { messageOf } from '../../../protocol/message-of.js'
import { plainSentence } from '../../../protocol/text/plain-sentence.js'
import type { PackageSupervisor } from './package-supervisor.js'
import type { PluginRecords } from './plugin-records.js'
import type { Registry } from '../registry/registry.js'
import { watchRoots } from './root-watches.js'
import type { Switches } from './switches.js'

export interface BuiltInDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'log' | 'paths'>
  readonly switches: Switches
  readonly supervisor: PackageSupervisor
  readonly records: PluginRecords
  readonly registry: Pick<Registry, 'view'>
  readonly version: string
}

export interface BuiltIns {
  /** In the order they start. */
  readonly keys: readonly string[]
  /** Resolves when each serves, has failed or is off. */
  start(plugins: readonly NativePlugin[], host: (pluginId: string) => NativeHost): Promise<void>
  /** Does what the configuration says now. Never rejects. */
  follow(): Promise<void>
  /** What they add to what the server can do, as a directory sees it. */
  capabilities(directory: string): Promise<Capability[]>
  /** Of all of them, also of those that are off. */
  ids(): readonly string[]
  stop(): void
}

export function createBuiltIns({ effects, switches, supervisor, records, registry, version }: BuiltInDeps): BuiltIns {
  const { clock, log, paths } = effects
  let plugins: readonly NativePlugin[] = []
  let keys: readonly string[] = []
  /** Why each is off, as it was told last. */
  const told = new Map<string, string | undefined>()
  const logic = laidOut(chartOf(lookMachine).provide({ actors: { look: fromPromise(() => look()) } }))
  const looks = createActor(logic, { id: 'look:built-ins', input: { what: 'built-ins' }, clock }).start()
  const watches = watchRoots({ effects, roots: [paths.config], onChanged: () => void follow(), onLost: () => undefined })

  async function assess(): Promise<void> {
    const off = withRequired(plugins, await switches.forAll())
    for (const plugin of plugins) {
      const reason = off.get(plugin.id)
      if (told.has(plugin.id) && told.get(plugin.id) === reason) continue
      if (told.has(plugin.id))
        log.info(reason === undefined ? 'a built-in plugin is switched on' : 'a built-in plugin is switched off', {
          plugin: plugin.id,
          reason,
        })
      told.set(plugin.id, reason)
      supervisor.send(keyOf(plugin), { type: 'assessed', assessment: assessmentOf(reason) })
    }
  }

  const faultOf = (): unknown => looks.getSnapshot().context.fault

  async function follow(): Promise<void> {
    await lookedAnew(looks)
    if (faultOf() !== undefined) log.error('the switches of built-in plugins could not be followed', { cause: String(faultOf()) })
  }

  /** I3. */
  async function look(): Promise<void> {
    await watches.renew()
    await assess()
  }

  async function capability(directory: string, plugin: NativePlugin): Promise<Capability | undefined> {
    const { id: pluginId, capability: own, requires } = plugin
    if (own === undefined) return undefined
    const published = registry.view(directory).plugins.find((each) => each.internal && each.pluginId === pluginId)
    const reason =
      published === undefined
        ? ((await switches.reason(directory, pluginId)) ?? whyNot(keyOf(plugin)))
        : await published.contributions.unavailable?.()
    return {
      ...own,
      version,
      enabled: reason === undefined,
      disableable: true,
      source: 'plugin',
      pluginId,
      ...(requires !== undefined && { requires: [...requires] }),
      ...(reason !== undefined && { reason }),
    }
  }

  function whyNot(key: string): string {
    const { reason, assessment } = supervisor.snapshot(key)?.context ?? {}
    return plainSentence(reason ?? assessment?.diagnostics[0]?.message ?? 'it has not started yet')
  }

  return {
    get keys() {
      return keys
    },
    async start(given, host) {
      plugins = given
      keys = given.map(keyOf)
      for (const plugin of given) records.put(keyOf(plugin), { kind: 'native', plugin, version, start: createNativeStarter(plugin, host) })
      await lookedAnew(looks)
      const fault = faultOf()
      if (fault !== undefined) throw fault instanceof Error ? fault : new Error(messageOf(fault))
      for (const key of keys) supervisor.tell(key, { type: 'wanted' })
      await supervisor.settled(keys)
      for (const key of keys) {
        const snapshot = supervisor.snapshot(key)
        if (snapshot?.hasTag('serving') === true) continue
        if (snapshot !== undefined && packageStateOf(snapshot) === 'disabled')
          log.info('a built-in plugin is off', { plugin: key, reason: whyNot(key) })
        else log.error('a built-in plugin did not start', { plugin: key, reason: snapshot?.context.reason })
      }
    },
    follow,
    async capabilities(directory) {
      const all = await Promise.all(plugins.map((plugin) => capability(directory, plugin)))
      return all.flatMap((each) => each ?? [])
    },
    ids: () => plugins.map(({ id }) => id),
    stop() {
      leave(looks)
      watches.end()
    },
  }
}

function keyOf({ id }: NativePlugin): string {
  return `${id}@built-in`
}

/** I2. */
function withRequired(plugins: readonly NativePlugin[], offOf: (id: string) => string | undefined): ReadonlyMap<string, string> {
  const off = new Map<string, string>()
  for (const { id } of plugins) {
    const reason = offOf(id)
    if (reason !== undefined) off.set(id, reason)
  }
  const isOff = (capability: string) => plugins.some(({ id, capability: own }) => own?.id === capability && off.has(id))
  for (let before = -1; before < off.size; ) {
    before = off.size
    for (const { id, requires = [] } of plugins) {
      const missing = off.has(id) ? undefined : requires.find(isOff)
      if (missing !== undefined) off.set(id, `it needs ${missing}, which is off`)
    }
  }
  return off
}

function assessmentOf(reason: string | undefined): Assessment {
  const common = { revision: '', approved: [''], retained: undefined } as const
  if (reason === undefined) return { ...common, verdict: 'trusted', signature: 'built-in', diagnostics: [] }
  return { ...common, verdict: 'disabled', signature: reason, diagnostics: [{ code: 'inactive', message: reason }] }
}
