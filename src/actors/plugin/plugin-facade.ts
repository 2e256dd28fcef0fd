/** What HTTP and the command line see of plugins (http-contract §5.8). */
import { SvcError } from '../../protocol/errors.js'
import { type PackageLifecycleInfo, PackageState, type PluginManifest } from '../../protocol/plugin.js'
import type { Plugins } from '../facades.js'
import type { FrameSocket } from './contributions.js'
import type { DirectoryPlugins } from './package/directory-plugins.js'
import { lifecycleInfo } from './package/lifecycle.js'
import type { PackageSnapshot, PackageSupervisor } from './package/package-supervisor.js'
import { manifestOf } from './plugin-list.js'
import { type PluginRecord, type PluginRecords, problemsOf } from './plugin-records.js'
import type { Registry } from './registry.js'
import { underLease } from './socket-lease.js'
import type { Workspaces } from './package/workspaces.js'

export interface FacadeDeps {
  readonly registry: Registry
  readonly supervisor: PackageSupervisor
  readonly records: PluginRecords
  readonly directories: DirectoryPlugins
  readonly workspaces: Pick<Workspaces, 'use' | 'refresh'>
  /** Keys of the built-in plugins, in order. */
  readonly builtIns: readonly string[]
}

export function createPluginFacade(deps: FacadeDeps): Omit<Plugins, 'match'> {
  const { registry, supervisor, records, directories, workspaces, builtIns } = deps

  function describe(directory: string, keys: Iterable<string>): PluginManifest[] {
    const { plugins } = registry.view(directory)
    return [...keys].flatMap((key) => {
      const record = records.get(key)
      if (record === undefined) return []
      const isInternal = record.origin.kind === 'native'
      const described = manifestOf(record, supervisor.snapshot(key), undefined, false)
      const published = plugins.find(({ pluginId, internal }) => pluginId === described.id && internal === isInternal)
      const isHidden = registry.isHidden(directory, described.id) && supervisor.snapshot(key)?.hasTag('serving') === true
      return [manifestOf(record, supervisor.snapshot(key), published, isHidden)]
    })
  }

  function all(directory: string): PluginManifest[] {
    const others = [...describe(directory, directories.keys(directory)), ...directories.broken(directory).map(brokenManifest)]
    return [...describe(directory, builtIns), ...others.toSorted((a, b) => compare(a.id, b.id))]
  }

  return {
    async list(directory) {
      await workspaces.use(directory)
      return all(directory).filter(({ internal, active, enabled, reason }) => internal || active || (enabled && reason !== undefined))
    },
    async manifest(directory, pluginId) {
      await workspaces.use(directory)
      const found = all(directory).find(({ id }) => id === pluginId)
      if (found === undefined) throw new SvcError('resource.not_found', `There is no plugin "${pluginId}".`, { pluginId })
      return found
    },
    async call(operationId, call) {
      const operation = registry.view(call.directory).operations.get(operationId)
      if (operation === undefined) throw notServed(operationId)
      return operation.use(() => operation.contribution(call))
    },
    present(operationId, ticket) {
      const operation = registry.view('').socketOperations.get(operationId)
      if (operation === undefined) return () => Promise.reject(notServed(operationId))
      const open = operation.contribution(ticket)
      return (call) =>
        underLease(
          operation,
          () => open(call),
          ({ caller, socket }, left) => ({ caller, socket: heldSocket(socket, left) }),
        )
    },
    async lifecycle(directory) {
      await workspaces.refresh(directory)
      const infos = [...directories.keys(directory)].flatMap((key) => packageInfo(records.get(key), supervisor.snapshot(key)) ?? [])
      return infos
        .filter((info) => !isTemplate(info, infos))
        .map((info) => (registry.isHidden(directory, info.packageId) ? switchedOffHere(info) : info))
        .toSorted((a, b) => compare(a.packageId, b.packageId))
    },
  }
}

function notServed(operationId: string): SvcError {
  return new SvcError('feature.not_implemented', 'The plugin that serves this operation is switched off or did not start.', { operationId })
}

function heldSocket(socket: FrameSocket, left: () => void): FrameSocket {
  return {
    frames: socket.frames,
    take: (frame) => socket.take(frame),
    close() {
      left()
      socket.close()
    },
  }
}

/** The lifecycle record of a package; undefined for other plugins and for packages that are leaving. */
export function packageInfo(record: PluginRecord | undefined, snapshot: PackageSnapshot | undefined): PackageLifecycleInfo | undefined {
  if (record?.origin.kind !== 'package' || snapshot === undefined || !PackageState.safeParse(snapshot.value).success) return undefined
  const { found, place, granted } = record.origin.sighting
  const info = lifecycleInfo({ found, place, granted, droppedFrames: record.droppedFrames }, snapshot)
  return { ...info, diagnostics: [...info.diagnostics, ...problemsOf(record)] }
}

/** What everybody shares, as a workspace sees it that has switched it off. */
function switchedOffHere(info: PackageLifecycleInfo): PackageLifecycleInfo {
  if (info.state === 'disabled') return info
  return { ...info, state: 'disabled', leaseActive: false, diagnostics: [{ code: 'inactive', message: 'switched off by this workspace' }] }
}

/** A session package that runs for some session needs no line of its own. */
function isTemplate({ packageId, scope, scopeId }: PackageLifecycleInfo, infos: readonly PackageLifecycleInfo[]): boolean {
  return scope === 'session' && scopeId === undefined && infos.some((other) => other.packageId === packageId && other.scopeId !== undefined)
}

function brokenManifest({ id, reason }: { readonly id: string; readonly reason: string }): PluginManifest {
  return {
    id,
    name: id,
    version: '',
    pluginApi: '2',
    internal: false,
    enabled: true,
    active: false,
    disableable: true,
    capabilities: [],
    requires: [],
    eventNamespaces: [],
    reason,
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
