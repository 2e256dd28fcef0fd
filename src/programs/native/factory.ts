/**
 * What a module of native code exports, and an instance that is made of it (plugin-protocol §3.4).
 *
 * The default export is a factory: `descriptor` says for which package and interface it is, `create` makes an instance, once for each
 * generation. An instance starts once, offers its contributions, and is shut down once. A module that exports `plugin` alone, as a package
 * that runs as a program has it, needs no factory.
 */
import { NATIVE_API } from '../../protocol/plugin/native-api.js'
import type { Plugin } from '../../published/kit/plugin-types.js'

export interface NativeContext {
  readonly pluginId: string
  readonly instanceId: string
  /** Aborted when the instance is to end. */
  readonly signal: AbortSignal
}

export interface NativeInstance {
  readonly plugin: Plugin
  /** Idempotent. */
  shutdown(): Promise<void>
}

const READY = new Set(['ready', 'degraded'])

/** Rejects with a sentence. */
export async function instanceOf(exported: Readonly<Record<string, unknown>>, context: NativeContext): Promise<NativeInstance> {
  const { default: factory, plugin } = exported
  const create = methodOf(factory, 'create')
  if (!isRecord(factory) || create === undefined) {
    const offered = isRecord(plugin) ? plugin : factory
    if (!isRecord(offered)) throw new Error('it exports neither "plugin" nor, as its default, a factory with "descriptor" and "create"')
    return { plugin: offered, shutdown: async () => undefined }
  }
  refuseOther(factory['descriptor'], context.pluginId)
  const made: unknown = await create(context)
  if (!isRecord(made) || !isRecord(made['contributions'])) throw new Error('"create" answered no instance with "contributions"')
  const { contributions } = made
  const [start, shutdown] = [methodOf(made, 'start'), methodOf(made, 'shutdown')]
  const ready: unknown = await start?.()
  const { readiness, reason } = isRecord(ready) ? ready : { readiness: ready ?? 'ready', reason: undefined }
  if (typeof readiness !== 'string' || !READY.has(readiness)) throw new Error(`it says that it is ${sentence(readiness, reason)}`)
  let ended: Promise<void> | undefined
  return {
    plugin: readiness === 'degraded' ? withProblem(contributions, sentence(readiness, reason)) : contributions,
    shutdown: () => (ended ??= (async () => void (await shutdown?.()))()),
  }
}

function refuseOther(descriptor: unknown, pluginId: string): void {
  const { id, apiVersion } = isRecord(descriptor) ? descriptor : {}
  if (id !== pluginId) throw new Error(`its factory is for the package ${String(id)}`)
  if (apiVersion !== NATIVE_API) throw new Error(`its factory is for the native API ${String(apiVersion)}; this server has ${NATIVE_API}`)
}

function withProblem(plugin: Plugin, problem: string): Plugin {
  return { ...plugin, problems: [...(plugin.problems ?? []), problem] }
}

function sentence(readiness: unknown, reason: unknown): string {
  return typeof reason === 'string' ? `${String(readiness)}: ${reason}` : String(readiness)
}

function methodOf(value: unknown, name: string): ((...args: readonly unknown[]) => unknown) | undefined {
  const method: unknown = isRecord(value) ? value[name] : undefined
  return typeof method === 'function' ? (...args) => Reflect.apply(method, value, args) as unknown : undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> & Plugin {
  return typeof value === 'object' && value !== null
}
