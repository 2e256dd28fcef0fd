/** Who calls: the identity one request carries from the door to the audit entry (threat-model T3). */

import type { WorkerScope } from './hosting/worker.js'

export interface Caller {
  /** `local` in trusted mode, `local-operator` for the static token, `hosted:<tenant>` for token-file callers. */
  readonly subject: string
  readonly tenantId: string
  /** False in trusted mode (no credential configured). */
  readonly authenticated: boolean
  /** May use management and other operator-only operations. */
  readonly operator: boolean
  /** Canonical prefixes the caller may use; undefined = every directory. */
  readonly directoryPrefixes: readonly string[] | undefined
  /** The one workspace it is for: it sees nothing of another. */
  readonly workspaceId?: string
  /** A stranger to this installation: may use what is listed for such callers, and starts no program here. */
  readonly hosted?: true
  /** When the credential ends by itself, Unix ms. */
  readonly until?: number
  /** What a caller of a worker may ask for; absent everywhere else. */
  readonly scopes?: ReadonlySet<WorkerScope>
  /** Its directories are all that there are on this server: the root of a worker. */
  readonly hasWhole?: true
  /** Administers the workspace of a worker: may do there what is for the local operator elsewhere, where the scopes open it. */
  readonly manages?: true
  /** What whoever signed the credential says of who is behind it. */
  readonly actorType?: 'human' | 'service-account'
  /** What the credential may use up of what is counted for its tenant; absent where nothing is bounded. */
  readonly quotas?: Quotas
  /** Set where no person is behind the call: a plugin, a workflow, an agent. */
  readonly isAutomatic?: true
}

export const QUOTAS = [
  'maxSessions',
  'maxArtifacts',
  'maxArtifactBytes',
  'artifactRetentionDays',
  'requestsPerMinute',
  'maxInFlight',
  'modelTokensPerDay',
  'modelCostPerDay',
] as const

/** Of a token (subsystems d.3); what is absent has no bound. */
export type Quotas = { readonly [Name in (typeof QUOTAS)[number]]?: number | undefined }

/** Of whoever made a session, as it keeps them for what is made in its name (subsystems d.6). */
export function quotasOf({ tenantQuotas: kept }: Readonly<Record<string, unknown>>): Quotas | undefined {
  if (typeof kept !== 'object' || kept === null) return undefined
  const known = Object.entries(kept).filter(([name, value]) => QUOTAS.some((each) => each === name) && Number.isFinite(value))
  return Object.fromEntries(known)
}

export const LOCAL_TENANT = 'local'

/** The caller of every request while no credential is configured (decision: loopback trusted mode). */
export const TRUSTED_CALLER: Caller = {
  subject: 'local',
  tenantId: LOCAL_TENANT,
  authenticated: false,
  operator: false,
  directoryPrefixes: undefined,
}

/** Native plugins, as they prompt: the local caller, and no person. */
export const PLUGIN_CALLER: Caller = { ...TRUSTED_CALLER, isAutomatic: true }

/** Whose something is, and where. */
export interface Owned {
  readonly tenantId: string
  readonly directory: string
  readonly workspaceId?: string | undefined
  /** Something a hosted caller made. */
  readonly isHosted?: boolean
  /** Other tenants whose it is as well: of sessions above one that has no tenant of its own. */
  readonly alsoOf?: readonly string[]
}

/** Whether something is the caller's: of its tenant, in its directories and, where it is for one workspace, of that (subsystems d.6). */
export function owns(caller: Caller, { tenantId, directory, workspaceId, alsoOf = [] }: Owned): boolean {
  const isOfTenant = tenantId === caller.tenantId || alsoOf.includes(caller.tenantId)
  return isOfTenant && mayUseDirectory(caller, directory) && isOfWorkspace(caller, workspaceId)
}

export function isOfWorkspace({ workspaceId }: Caller, ofObject: string | undefined): boolean {
  return workspaceId === undefined || workspaceId === ofObject
}

/** Whether a canonical path lies in what the caller may use; compares whole path segments. */
export function mayUseDirectory(caller: Caller, canonicalPath: string): boolean {
  const { directoryPrefixes: prefixes } = caller
  if (prefixes === undefined) return true
  return prefixes.length <= FEW ? prefixes.some((prefix) => isWithin(prefix, canonicalPath)) : isWithinOneOf(prefixes, canonicalPath)
}

/** So many are compared one by one. */
const FEW = 4
const sets = new WeakMap<readonly string[], ReadonlySet<string>>()

/** A look for each folder on the way to the path, whatever number of prefixes there are. */
function isWithinOneOf(prefixes: readonly string[], path: string): boolean {
  const known = sets.get(prefixes)
  const set = known ?? new Set(prefixes)
  if (known === undefined) sets.set(prefixes, set)
  if (set.has(path) || set.has('/')) return true
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) if (set.has(path.slice(0, at))) return true
  return false
}

/** Whether `path` equals `root` or lies below it; both absolute and canonical, `/` separated. */
export function isWithin(root: string, path: string): boolean {
  if (root === path || root === '/') return true
  return path.startsWith(root.endsWith('/') ? root : `${root}/`)
}
