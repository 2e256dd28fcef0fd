/**
 * The options of one plugin entry (plugin-protocol §2.1, §9.2). Pure.
 *
 * I1 A value that cannot be read narrows: no trust, no network, a sandbox.
 */
import { intersectCapabilities } from '../../../machines/plugin/capability.js'
import { BROKERED } from '../../../protocol/plugin/broker-operations.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { callTimeoutOf, HostCapability, TrustRecord } from '../../../protocol/plugin/plugin.js'
import { asDeclared } from '../../../protocol/text/leniency.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { isReservedKey, recordAt } from './config-merge.js'

/** What a package gets of its entry; the values of an absent entry when there is none. */
export interface PackageEntry {
  /** `initialize.params.config`. */
  readonly config: unknown
  readonly timeoutMs: number
  /** As written; undefined leaves it to the policy of the installation. */
  readonly sandbox: boolean | undefined
  /** Hosts in networks of this machine that it may reach through the host. */
  readonly hosts?: readonly string[]
  /** Approvals that could be read, in written order. */
  readonly trust: readonly TrustRecord[]
}

/** A process that speaks `svc-plugin/2` and that the configuration itself describes. */
export interface ProcessOptions {
  readonly config: unknown
  readonly timeoutMs: number
  readonly sandbox: boolean | undefined
  readonly hosts?: readonly string[]
  /** Whether the sandbox leaves the network open. */
  readonly network: boolean
  /**
   * Asked for, `network` among them when the network is open; the host grants the part that its policy allows and
   * starts the plugin with that (plugin-protocol §12-5, §13-13).
   */
  readonly capabilities: readonly HostCapability[]
  /** Applied last. */
  readonly env: Readonly<Record<string, string>>
  /** Becomes `owner.packageRevision`. */
  readonly revision: string | undefined
}

export type Report = (level: ConfigDiagnostic['level'], path: string, message: string) => void

/** What a package gets of the options of its entry. */
export function packageEntry(options: JsonRecord): PackageEntry {
  return { ...commonOptions(options), trust: readTrust(options).records }
}

/** The approvals among the options, and whether some could not be read. */
export function readTrust(options: JsonRecord): { readonly records: readonly TrustRecord[]; readonly unreadable: boolean } {
  const trust = options['trust'] ?? undefined
  if (trust === undefined) return { records: [], unreadable: false }
  const all = (Array.isArray(trust) ? trust : [trust]).map((record) => TrustRecord.safeParse(asDeclared(TrustRecord, record)))
  return { records: all.flatMap((read) => (read.success ? [read.data] : [])), unreadable: all.some((read) => !read.success) }
}

/** What a process gets; problems are reported under `path`. */
export function processOptions(options: JsonRecord, path: string, report: Report): ProcessOptions {
  const wanted = options['capabilities'] ?? []
  const names: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  const capabilities = new Set<HostCapability>()
  for (const name of new Set(names)) {
    const known = HostCapability.safeParse(name)
    if (known.success) {
      capabilities.add(known.data)
      if (!isProvided(known.data))
        report('warning', `${path}.capabilities`, `"${known.data}" is provided by nothing here; it is not granted`)
    } else report('warning', `${path}.capabilities`, `${shown(name)} is not a capability; it is ignored`)
  }
  for (const key of ['network', 'sandbox']) {
    const value = options[key] ?? undefined
    if (value === undefined || typeof value === 'boolean') continue
    report('error', `${path}.${key}`, `must be true or false; ${key === 'network' ? 'the network is closed' : 'a sandbox is required'}`)
  }
  const network = options['network'] === undefined || options['network'] === null || options['network'] === true // I1
  if (network) capabilities.add('network')
  else capabilities.delete('network')
  const revision = options['revision'] ?? options['digest']
  return {
    ...commonOptions(options),
    network,
    capabilities: [...capabilities],
    env: readEnv(options, `${path}.env`, report),
    revision: typeof revision === 'string' ? revision : undefined,
  }
}

/** Whether this program stands behind a capability, for a program in a workspace. */
function isProvided(capability: HostCapability): boolean {
  const question = {
    declared: [capability],
    trusted: undefined,
    scope: 'workspace',
    runtime: 'process',
    brokered: BROKERED,
  } as const
  return intersectCapabilities(question).granted.length > 0
}

function commonOptions(options: JsonRecord) {
  const { timeoutMs, sandbox, hosts } = options
  const config = options['config'] ?? {}
  const known = sandbox === undefined || sandbox === null || typeof sandbox === 'boolean'
  const common = { config, timeoutMs: callTimeoutOf(timeoutMs), sandbox: known ? (sandbox ?? undefined) : true } // I1
  return hosts === undefined ? common : { ...common, hosts: hostsOf(hosts) }
}

/** What is no host names none. */
function hostsOf(hosts: unknown): readonly string[] {
  return Array.isArray(hosts) ? hosts.filter((host) => typeof host === 'string') : []
}

function readEnv(options: JsonRecord, path: string, report: Report): Readonly<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(recordAt(options, 'env'))) {
    const usable = typeof value === 'string' && !value.includes('\0') && /^[^=\0]+$/.test(name) && !isReservedKey(name)
    if (usable) env[name] = value
    else report('warning', `${path}.${name}`, 'is no environment variable with text; it is ignored')
  }
  return env
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${value.slice(0, 80)}"` : `a value of type ${typeof value}`
}
