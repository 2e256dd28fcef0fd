/** Plugins that run in the process of the test. Part of the declarations of `svc/testing`: types only. */
import type { Plugin } from '../kit/plugin-types.js'
import type { PackageLifecycleInfo } from '../../protocol/plugin/plugin.js'

export interface PlayedPluginOptions {
  /** Package id; `dev.example.played` when absent. */
  readonly id?: string
  readonly version?: string
  /** Capabilities the manifest asks for and the installation grants. */
  readonly capabilities?: readonly string[]
  readonly eventNamespaces?: readonly string[]
  /** Further fields of `agent` in the manifest. */
  readonly agent?: Readonly<Record<string, unknown>>
  /** `plugins.<id>.options.config` of the installation. */
  readonly config?: unknown
  /** Approve its content at once; true when absent. */
  readonly approved?: boolean
}

/** A package whose program is played: the same frames as on a pipe, in this process. */
export interface PlayedPlugin {
  readonly id: string
  /** How often its program was started. */
  readonly starts: number
  /** Programs that run now. */
  readonly running: number
  /** What it wrote to standard error. */
  readonly notes: readonly string[]
  /** Ends the newest program as a crash does, with 1 when no exit code is given; resolves when everybody knows. */
  crash(exitCode?: number): Promise<void>
  /** The newest program reads nothing any more; `resume` lets it go on. */
  hang(): void
  resume(): void
  /** Puts new content in the place of the package and looks at it. It is not approved, unless that is asked for. */
  update(plugin: Plugin, options?: { readonly version?: string; readonly approved?: boolean }): Promise<void>
  /** Approves the content that is there now. */
  approve(): Promise<void>
  /** Its record, after a fresh look. */
  info(): Promise<PackageLifecycleInfo>
}

export type PlayPlugin = (plugin: Plugin, options?: PlayedPluginOptions) => Promise<PlayedPlugin>
