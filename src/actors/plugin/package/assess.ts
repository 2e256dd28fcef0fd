/** From what lies on disk and what the installation says to one verdict per package and place (plugin-protocol §2.2, §3.2). */
import type { Assessment } from '../../../machines/plugin/assessment.js'
import {
  approvesPlace,
  authorize,
  intersectCapabilities,
  NO_BROKER_ACTION,
  noBroker,
  type PackagePlace,
} from '../../../machines/plugin/capability.js'
import type { HostCapability, PackageDiagnostic, TrustRecord } from '../../../protocol/plugin/plugin.js'
import { omit } from '../../resource/config/config-merge.js'
import type { PackageEntry } from '../../resource/config/entry-options.js'
import type { FoundPackage } from './package-files.js'
import type { PinnedContent } from './package-store.js'

/** A package as it was found, with the hash of its content or why it has none. */
export interface ReadPackage extends FoundPackage {
  readonly revision: string
  readonly digest: string
  /** As `HashedPackage` has it. */
  readonly isPlain: boolean
  readonly problems: readonly PackageDiagnostic[]
}

export interface AssessDeps {
  /** Capabilities for which a broker is installed. */
  readonly brokered: ReadonlySet<HostCapability>
  /** Whether a copy of this content is kept. */
  hasCopy(content: PinnedContent): Promise<boolean>
  readonly sha256: (text: string) => string
  /** The config by which a change of an entry is noticed. */
  noticed(pluginId: string, config: unknown): unknown
}

/** Of the diagnostic that tells what cannot be had here. */
export const NOT_GRANTED = 'capability-not-granted'

export async function assess(
  deps: AssessDeps,
  { found, entry, place, off }: { found: ReadPackage; entry: PackageEntry; place: PackagePlace; off: string | undefined },
): Promise<Assessment> {
  const { revision, digest } = found
  const records = approvingRecords(found, place, entry.trust)
  const approved = [...new Set(records.map((trust) => trust.revision))]
  const judgement = judge(deps, found, entry, place, off)
  const needsCopy = judgement.verdict === 'untrusted' || judgement.verdict === 'invalid'
  return {
    ...judgement,
    revision,
    approved,
    retained: needsCopy ? await latestCopy(deps, records, revision) : undefined,
    signature: deps.sha256(
      JSON.stringify([
        judgement.verdict,
        revision,
        digest,
        asWritten({ ...entry, config: deps.noticed(found.id, entry.config) }),
        approved,
      ]),
    ),
  }
}

function judge(
  { brokered }: AssessDeps,
  found: ReadPackage,
  entry: PackageEntry,
  place: PackagePlace,
  off: string | undefined,
): Pick<Assessment, 'verdict' | 'diagnostics'> {
  if (off !== undefined) return { verdict: 'disabled', diagnostics: [{ code: 'inactive', message: off }] }
  const target = found.manifest?.agent
  if (found.problems.length > 0 || target === undefined || target === null) return { verdict: 'invalid', diagnostics: found.problems }
  const { id: packageId, revision, digest, source } = found
  const { capabilities: declared, runtime } = target
  const { scope } = place
  const { unbrokered } = intersectCapabilities({ declared, trusted: undefined, scope, runtime, brokered })
  const refusals = unbrokered.length === 0 ? [] : [{ code: NOT_GRANTED, message: noBroker(unbrokered, scope), action: NO_BROKER_ACTION }]
  const authorization = authorize({ packageId, revision, digest, source, target, place }, entry.trust)
  if (authorization.ok) return { verdict: refusals.length === 0 ? 'trusted' : 'ungranted', diagnostics: refusals }
  const missing = { code: 'permission-required', message: authorization.reason }
  if (refusals.length > 0) return { verdict: 'untrusted', diagnostics: [missing, ...refusals] }
  const action = `approve this exact revision in the installation configuration: svc plugin trust ${packageId}`
  return { verdict: 'untrusted', diagnostics: [{ ...missing, action }] }
}

/** Requested ∩ approved for exactly this content ∩ what this host provides (choices 22). */
export function grantedOf(
  { brokered }: Pick<AssessDeps, 'brokered'>,
  { manifest, id: packageId, source, revision, digest }: ReadPackage,
  place: PackagePlace,
  records: readonly TrustRecord[],
): readonly HostCapability[] {
  const target = manifest?.agent
  if (target === undefined || target === null) return []
  const record = records.find(
    (trust) => trust.revision === revision && trust.digest === digest && approvesPlace({ packageId, source, target, place }, trust),
  )
  const { capabilities: declared, runtime } = target
  return intersectCapabilities({ declared, trusted: record?.capabilities ?? [], scope: place.scope, runtime, brokered }).granted
}

/** Whether exactly this content is approved to run inside of the server. */
export function isNativeApproved(
  { manifest, id: packageId, source, revision, digest }: ReadPackage,
  place: PackagePlace,
  records: readonly TrustRecord[],
): boolean {
  const target = manifest?.agent
  if (target === undefined || target === null) return false
  const authorization = authorize({ packageId, revision, digest, source, target, place }, records)
  return authorization.ok && authorization.isNative
}

/** Without a manifest that can be read, records for the same id and workspace count. */
function approvingRecords(
  { id: packageId, source, manifest }: ReadPackage,
  place: PackagePlace,
  records: readonly TrustRecord[],
): readonly TrustRecord[] {
  const target = manifest?.agent
  const isMeant = (trust: TrustRecord) =>
    target === undefined || target === null
      ? trust.packageId === packageId && (place.workspaceId === undefined || trust.workspaceId === place.workspaceId)
      : approvesPlace({ packageId, source, target, place }, trust)
  return records.filter(isMeant)
}

async function latestCopy({ hasCopy }: AssessDeps, approved: readonly TrustRecord[], found: string): Promise<string | undefined> {
  for (const { revision, digest } of approved.toReversed())
    if (revision !== found && digest !== undefined && (await hasCopy({ revision, digest }))) return revision
  return undefined
}

/** Without the digests that were found out: an approval that is completed is no other approval. */
function asWritten(entry: PackageEntry): unknown {
  return { ...entry, trust: entry.trust.map((record) => omit(record, ['digest'])) }
}
