/** What it takes to start one plugin process, and the environment it gets (plugin-protocol §4.1). */
import type { HostCapability, PluginDeclared } from '../../../protocol/plugin/plugin.js'
import { PROCESS_PROTOCOL } from '../../../protocol/plugin/plugin-frame.js'
import type { ChildPipe, Effects } from '../../../ports/effects.js'
import type { NativeOptions } from '../../../ports/native-code.js'
import type { InstancePlace } from '../generation/instance.js'

export interface ProcessSpec {
  readonly pluginId: string
  readonly place: InstancePlace
  /** Content revision of the package, `sha256:<hex>`. */
  readonly revision?: string
  /** `initialize.config`. */
  readonly config: unknown
  /** Budget of unary calls, ms, already clamped (`callTimeoutOf`). */
  readonly timeoutMs: number
  /** Working directory of the child and `initialize.directory`. Absolute. */
  readonly directory: string
  /** Where its author has what is in `directory`: named in its place in what the plugin writes to its log. */
  readonly folder?: string
  /** Absolute path. */
  readonly program: string
  readonly args: readonly string[]
  /** The whole environment, except `SVC_PLUGIN_INSTANCE_ID`, which every start sets anew. */
  readonly env: Readonly<Record<string, string>>
  /** What the lease grants. */
  readonly capabilities: ReadonlySet<HostCapability>
  /** What the manifest says beside them. */
  readonly declared?: PluginDeclared
  /** Hosts in networks of this machine that the installation lets it reach. */
  readonly listedHosts?: readonly string[]
  /** Namespaces the plugin may publish events in (manifest `agent.eventNamespaces`). */
  readonly eventNamespaces: readonly string[]
  readonly watch?: ProcessWatch
  /** Why it runs without the sandbox that it would have, for people. */
  readonly uncontained?: string
  /** How it is begun where it is no program of its own: then `program`, `args` and `env` are for nothing. */
  readonly open?: OpenInside
}

/** Begins an instance in this process. */
export type OpenInside = (options: Pick<NativeOptions, 'instanceId' | 'inputBacklog' | 'onStdout' | 'onStderr' | 'onFault'>) => ChildPipe

/** Limits enforced from outside, by killing the process group; for programs that run untrusted scripts. */
export interface ProcessWatch {
  /** Milliseconds from the first byte on the standard output to the `initialize` reply. */
  readonly loadBudget?: number
  /** Milliseconds without any reply while calls are waiting for one. */
  readonly callBudget?: number
  /** Resident bytes, looked at while calls are waiting or the plugin is loading. */
  readonly processBytes?: number
}

export interface EnvironmentOptions {
  readonly pluginId: string
  /** Working directory of the child. */
  readonly directory: string
  /** Address of this server, when it is known. */
  readonly serverUrl?: string | undefined
  /** Configured by the installation; wins over everything else. */
  readonly overrides?: Readonly<Record<string, string>>
}

/** The allow-listed environment of children, what tells a plugin who it is, and what the installation configured (§13-8). */
export function pluginEnvironment({ childEnv }: Pick<Effects, 'childEnv'>, options: EnvironmentOptions): Record<string, string> {
  const { pluginId, directory, serverUrl, overrides } = options
  return {
    ...childEnv,
    SVC_PLUGIN_ID: pluginId,
    SVC_PLUGIN_PROTOCOL: PROCESS_PROTOCOL,
    SVC_WORKSPACE_DIR: directory,
    ...(serverUrl === undefined ? {} : { SVC_AGENT_SERVER_URL: serverUrl }),
    ...overrides,
  }
}

/** Makes `plugin-instance-<n>` ids, counting from 1; one for the whole server (plugin-protocol §4.1). */
export function createInstanceIds(): () => string {
  let last = 0
  return () => `plugin-instance-${++last}`
}
