/** What HTTP and the command line see of plugins (http-contract §5.8). */
import { SvcError } from '../../../protocol/errors.js'
import type { HostCapability, PackageDiagnostic, PackageLifecycleInfo, PluginManifest } from '../../../protocol/plugin/plugin.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import { API } from '../../../protocol/api.js'
import { EXTERNAL_OPERATIONS } from '../../../protocol/external/external-sessions.js'
import { EXTERNAL_PLUGIN } from '../../../protocol/session/external-provider.js'
import type { Plugins, PluginSettingsDoor } from '../../../ports/plugins.js'
import type { BuiltIns } from '../package/built-ins.js'
import type { FrameSocket } from '../../../ports/contributions.js'
import type { DirectoryPlugins } from '../package/directory-plugins.js'
import { lifecycleInfo } from '../package/lifecycle.js'
import { withoutEffect } from './without-effect.js'
import type { Dependencies } from '../package/dependencies.js'
import type { PackageSnapshot, PackageSupervisor } from '../package/package-supervisor.js'
import { manifestOf } from './plugin-list.js'
import { type PluginRecord, type PluginRecords, problemsOf } from '../package/plugin-records.js'
import type { Registry } from '../registry/registry.js'
import { underLease } from '../calls/socket-lease.js'
import { HOOKS_STAY, OFF_HERE, type Switches } from '../package/switches.js'
import type { Workspaces } from '../package/workspaces.js'
import { compare } from '../../../kernel/sort.js'

export interface FacadeDeps {
  /** What something on this server provides; nothing else is shown as had (service.md, Authentication 11). */
  readonly grants: ReadonlySet<HostCapability>
  readonly registry: Registry
  readonly supervisor: PackageSupervisor
  readonly records: PluginRecords
  readonly directories: DirectoryPlugins
  readonly workspaces: Pick<Workspaces, 'use' | 'refresh'>
  readonly builtIns: Pick<BuiltIns, 'keys' | 'follow'>
  readonly switches: Pick<Switches, 'reason'>
  readonly dependencies: Pick<Dependencies, 'problems'>
}

export function createPluginFacade(deps: FacadeDeps): Omit<Plugins, 'match' | keyof PluginSettingsDoor> {
  const { registry, supervisor, records, directories, workspaces, builtIns, switches, grants, dependencies } = deps

  function describe(directory: string, keys: Iterable<string>): PluginManifest[] {
    return [...keys].flatMap((key) => {
      const record = records.get(key)
      if (record === undefined) return []
      const isInternal = record.origin.kind === 'native'
      const snapshot = supervisor.snapshot(key)
      const { id } = manifestOf(record, { snapshot, grants })
      const published = publishedIn(registry, { id, directory, isInternal, sessionId: sessionPackage(record)?.sessionId })
      const stays = published !== undefined && !isInternal ? HOOKS_STAY : ''
      const hidden = registry.isHidden(directory, id) ? `${OFF_HERE}${stays}` : undefined
      return [manifestOf(record, { snapshot, published, hidden, grants })]
    })
  }

  function all(directory: string): PluginManifest[] {
    const others = [...describe(directory, shownKeys(deps, directory)), ...directories.broken(directory).map(brokenManifest)]
    const listed = others.filter(
      (each, index) => each.enabled || others.findIndex(({ id, enabled }) => id === each.id && !enabled) === index,
    )
    return [...describe(directory, builtIns.keys), ...listed.toSorted((a, b) => compare(a.id, b.id))]
  }

  function notServed(operationId: string, directory: string, off?: string): SvcError {
    const pluginId = ownerOf(operationId)
    const { reason } = describe(directory, builtIns.keys).find(({ id }) => id === pluginId) ?? {}
    const plugin = pluginId === undefined ? 'The plugin that serves this operation' : `The plugin ${pluginId}`
    const message = `${plugin} is not there: ${off ?? reason ?? 'it is switched off, or did not start'}. GET /v2/capabilities tells what is.`
    return new SvcError('feature.not_implemented', message, { operationId, ...(pluginId !== undefined && { pluginId }) })
  }

  function ownerOf(operationId: string): string | undefined {
    if (EXTERNAL_OPERATIONS.has(operationId)) return EXTERNAL_PLUGIN
    const path = API.find(({ id }) => id === operationId)?.path
    return describe('', builtIns.keys).find(({ apiPrefix = '' }) => path === apiPrefix || path?.startsWith(`${apiPrefix}/`) === true)?.id
  }

  return {
    async list(directory) {
      await builtIns.follow()
      await workspaces.use(directory)
      return all(directory).filter(({ internal, active, reason }) => internal || active || reason !== undefined)
    },
    async manifest(directory, pluginId) {
      await builtIns.follow()
      await workspaces.use(directory)
      const found = all(directory).find(({ id }) => id === pluginId)
      if (found === undefined) throw new SvcError('resource.not_found', `There is no plugin "${pluginId}".`, { pluginId })
      return found
    },
    async call(operationId, call) {
      const { directory } = call
      const operation = registry.view(directory).operations.get(operationId)
      if (operation === undefined) throw notServed(operationId, directory)
      const off = directory === '' ? undefined : await switches.reason(directory, operation.pluginId)
      if (off !== undefined) throw notServed(operationId, directory, off)
      return operation.use(() => operation.contribution(call))
    },
    present(operationId, ticket) {
      const operation = registry.view('').socketOperations.get(operationId)
      if (operation === undefined) return () => Promise.reject(notServed(operationId, ''))
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
      const infos = [...directories.keys(directory)].flatMap(
        (key) => packageInfo(registry, records.get(key), supervisor.snapshot(key), dependencies.problems(key)) ?? [],
      )
      return infos
        .filter((info) => !isTemplate(info, infos))
        .map((info) => (registry.isHidden(directory, info.packageId) ? switchedOffHere(info) : info))
        .toSorted((a, b) => compare(a.packageId, b.packageId))
    },
  }
}

interface Wanted {
  readonly id: string
  readonly directory: string
  readonly isInternal: boolean
  /** Of what runs for one session alone. */
  readonly sessionId: string | undefined
}

/** What a session has of one above it is not published for the session itself. */
function publishedIn(registry: Pick<Registry, 'view'>, { id, directory, isInternal, sessionId }: Wanted) {
  return registry
    .view(directory, sessionId)
    .plugins.find(
      ({ pluginId, internal, reach }) =>
        pluginId === id && internal === isInternal && (reach.type !== 'session' || reach.sessionId === sessionId),
    )
}

type Listing = Pick<FacadeDeps, 'registry' | 'records' | 'directories'>

/** A package of the scope `session` is one line, however many it runs for: that of a session where it runs, else its template. */
function shownKeys(deps: Listing, directory: string): readonly string[] {
  const { directories, records } = deps
  const keys = [...directories.keys(directory)]
  const chosen = new Map<string, string>()
  for (const key of keys.toSorted((a, b) => rank(deps, directory, b) - rank(deps, directory, a))) {
    const id = sessionPackage(records.get(key))?.id
    if (id !== undefined && !chosen.has(id)) chosen.set(id, key)
  }
  return keys.filter((key) => {
    const id = sessionPackage(records.get(key))?.id
    return id === undefined || chosen.get(id) === key
  })
}

function rank({ registry, records }: Listing, directory: string, key: string): number {
  const { id, sessionId } = sessionPackage(records.get(key)) ?? {}
  if (sessionId === undefined) return 0
  return publishedIn(registry, { id: id ?? '', directory, isInternal: false, sessionId }) === undefined ? 1 : 2
}

/** A package of the scope `session`, and the session that it runs for, where it runs for one. */
function sessionPackage(record: PluginRecord | undefined): { readonly id: string; readonly sessionId: string | undefined } | undefined {
  if (record?.origin.kind !== 'package' || record.origin.sighting.place.scope !== 'session') return undefined
  const { found, place } = record.origin.sighting
  return { id: found.id, sessionId: place.scopeId }
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

/** The lifecycle record of a package; undefined for other plugins and for packages that are leaving. `needs`: what is said of its dependencies. */
export function packageInfo(
  registry: Pick<Registry, 'view'>,
  record: PluginRecord | undefined,
  snapshot: PackageSnapshot | undefined,
  needs: readonly PackageDiagnostic[],
): PackageLifecycleInfo | undefined {
  if (record?.origin.kind !== 'package' || snapshot === undefined || packageStateOf(snapshot) === undefined) return undefined
  const { found, place, granted, isNative } = record.origin.sighting
  const info = lifecycleInfo({ found, place, granted, isNative, droppedFrames: record.droppedFrames }, snapshot)
  const sessionId = place.scope === 'session' ? place.scopeId : undefined
  const published = publishedIn(registry, { id: found.id, directory: place.workspaceId ?? '', isInternal: false, sessionId })
  const idle = withoutEffect(found.manifest, place.scope, published?.contributions)
  const { conflict } = record
  const own =
    conflict === undefined
      ? info.diagnostics
      : info.diagnostics.map((each) => (each.code === 'failed' ? { ...each, action: givenWay(conflict.owner) } : each))
  return { ...info, diagnostics: [...own, ...needs, ...idle, ...problemsOf(record)] }
}

function givenWay(owner: string): string {
  return `switch ${owner} off, or name the contribution otherwise: it is tried again then`
}

/** What everybody shares, as a workspace sees it that has switched it off. */
function switchedOffHere(info: PackageLifecycleInfo): PackageLifecycleInfo {
  if (info.state === 'disabled') return info
  return { ...info, state: 'disabled', leaseActive: false, diagnostics: [{ code: 'inactive', message: OFF_HERE }] }
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
