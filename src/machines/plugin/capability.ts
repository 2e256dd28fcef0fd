/**
 * What a plugin may ask of the host: declared ∩ trusted ∩ granted in its scope ∩ brokered
 * (service.md, Authentication 11; plugin-protocol §2.2–2.4). Pure.
 */
import { NATIVE_API } from '../../protocol/plugin/native-api.js'
import type { AgentTarget, HostCapability, PluginScope, TrustRecord } from '../../protocol/plugin/plugin.js'

const EVERY_SCOPE: readonly PluginScope[] = ['global', 'user', 'workspace', 'session']

/** What this host provides without any broker, and in which scopes; a grant is a promise, so nothing else is granted. */
const PROVIDED: Readonly<Partial<Record<HostCapability, readonly PluginScope[]>>> = {
  'config-read': EVERY_SCOPE,
  'config-write': EVERY_SCOPE,
  'workspace-read': ['workspace'],
  'workspace-write': ['workspace'],
  'event-publish': EVERY_SCOPE,
  /** The network of the sandbox, which only programs have. */
  network: ['workspace'],
}

export interface CapabilityQuestion {
  readonly declared: readonly HostCapability[]
  /** Of the trust record; undefined for entries the installation itself wrote, which need none. */
  readonly trusted: readonly HostCapability[] | undefined
  readonly scope: PluginScope
  readonly runtime: AgentTarget['runtime']
  /** Capabilities a broker is installed for; each is granted in every scope. */
  readonly brokered: ReadonlySet<HostCapability>
}

export interface CapabilityAnswer {
  /** Declared, trusted and provided: what the lease holds. */
  readonly granted: readonly HostCapability[]
  /** Declared and trusted, and there is no broker for it here. */
  readonly unbrokered: readonly HostCapability[]
}

/** The one intersection; every list in the order of declaration, without repeats. */
export function intersectCapabilities({ declared, trusted, scope, runtime, brokered }: CapabilityQuestion): CapabilityAnswer {
  const wanted = [...new Set(declared)].filter((capability) => trusted === undefined || trusted.includes(capability))
  const isProvided = (capability: HostCapability): boolean =>
    brokered.has(capability) || (PROVIDED[capability]?.includes(scope) === true && (capability !== 'network' || runtime === 'process'))
  return { granted: wanted.filter(isProvided), unbrokered: wanted.filter((capability) => !isProvided(capability)) }
}

/** What everybody is told of capabilities nothing here stands behind. */
export function noBroker(capabilities: readonly HostCapability[], scope: PluginScope): string {
  return `no broker here for ${capabilities.join(', ')} in the scope ${scope}`
}

export const NO_BROKER_ACTION = 'take it out of agent.capabilities, or use a server that has a broker for it'

export interface PackagePlace {
  readonly scope: PluginScope
  /** Canonical workspace directory; absent for `global` and `user`. */
  readonly workspaceId: string | undefined
  readonly scopeId: string | undefined
}

export interface Applicant {
  readonly packageId: string
  readonly revision: string
  readonly digest: string
  readonly source: 'user' | 'workspace'
  readonly target: AgentTarget
  readonly place: PackagePlace
}

export type Authorization =
  /** `isNative`: its native part runs, inside of the server. */
  { readonly ok: true; readonly trust: TrustRecord; readonly isNative: boolean } | { readonly ok: false; readonly reason: string }

/** Why content serves nothing that nobody has approved. */
export const NO_APPROVAL = 'external trust is required'

/** Whether one of the installation's records approves exactly this; the reason is that of the record that came furthest. */
export function authorize(applicant: Applicant, records: readonly TrustRecord[]): Authorization {
  let best: { readonly step: number; readonly reason: string } = { step: 0, reason: NO_APPROVAL }
  for (const trust of records) {
    const refusal = refuse(applicant, trust)
    if (refusal === undefined) return { ok: true, trust, isNative: isNative(applicant.target, trust) }
    if (refusal.step > best.step) best = refusal
  }
  return { ok: false, reason: best.reason }
}

/** Whether the native part is what runs: where it is approved it takes the place of the runtime beside it. */
function isNative({ native }: Pick<AgentTarget, 'native'>, { nativeApproved }: Pick<TrustRecord, 'nativeApproved'>): boolean {
  return nativeApproved && native !== undefined
}

/** Whether a record is about this package in this place, whatever its revision: what it approves may keep serving. */
export function approvesPlace(applicant: Omit<Applicant, 'revision' | 'digest'>, trust: TrustRecord): boolean {
  const refusal = refuse({ ...applicant, revision: trust.revision, digest: trust.digest ?? '' }, trust)
  return refusal === undefined || refusal.step >= CAPABILITY_STEP
}

const CAPABILITY_STEP = 6

/** The order of plugin-protocol §2.2. */
function refuse(
  { packageId, revision, digest, source, target, place }: Applicant,
  trust: TrustRecord,
): { step: number; reason: string } | undefined {
  const { scope, workspaceId, scopeId } = place
  if (trust.packageId !== packageId) return { step: 1, reason: `the approval is for ${trust.packageId}` }
  if (target.scope !== scope || (trust.scope !== undefined && trust.scope !== scope))
    return { step: 2, reason: `the approval is for the scope ${trust.scope ?? target.scope}, not ${scope}` }
  if (scope === 'workspace' || scope === 'session') {
    if (trust.workspaceId !== workspaceId) return { step: 3, reason: `the approval is for the workspace ${trust.workspaceId}` }
  } else if (source !== 'user') return { step: 3, reason: `a package of a workspace cannot have the scope ${scope}` }
  if ((scope === 'user' || scope === 'session') && trust.scopeId !== scopeId)
    return { step: 4, reason: `the approval is for another ${scope}` }
  if (trust.revision !== revision) return { step: 5, reason: `the approval is for the revision ${trust.revision}` }
  if (trust.digest === undefined)
    return { step: 5, reason: 'the approval has no digest, and svc keeps no copy of what was approved that could tell it' }
  if (trust.digest !== digest) return { step: 5, reason: 'the approval is for other content of the same revision' }
  const missing = target.capabilities.find((capability) => !trust.capabilities.includes(capability))
  if (missing !== undefined) return { step: CAPABILITY_STEP, reason: `the capability ${missing} is not approved` }
  if (isNative(target, trust)) {
    const version = target.native?.apiVersion
    if (version === NATIVE_API) return undefined
    return { step: 7, reason: `its native part is for the native API ${version}; this server has ${NATIVE_API}` }
  }
  if (target.runtime === 'lua' && !trust.luaApproved) return { step: 7, reason: 'running Lua is not approved (luaApproved)' }
  if (target.runtime === 'process' && !trust.executableApproved)
    return { step: 7, reason: 'running a program is not approved (executableApproved)' }
  return undefined
}
