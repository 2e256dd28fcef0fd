/**
 * What the artifacts of a tenant may come to, and for how long they are kept, by the quotas of whoever asks (subsystems d.3, m).
 *
 * I1 Decided in the transaction that makes the rows: whatever arrives at once, as many as may be are there, and no more.
 */
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import type { Artifact } from '../../protocol/system/artifact.js'
import type { Store } from '../../store/store.js'

const DAY = 86_400_000

type Rows = Pick<Store, 'artifacts'>

/** Throws `quota.exceeded` when there would be too many with these, or too many bytes: of the tenant, or, `most`, of all together. */
export function refuseTooMany(
  { artifacts }: Rows,
  { tenantId, quotas = {} }: Caller,
  arriving: readonly Pick<Artifact, 'size'>[],
  most = Number.POSITIVE_INFINITY,
): void {
  const { maxArtifacts, maxArtifactBytes } = quotas
  const more = arriving.reduce((sum, { size }) => sum + size, 0)
  if (most !== Number.POSITIVE_INFINITY && artifacts.bytes() + more > most) throw full(most)
  if (maxArtifacts === undefined && maxArtifactBytes === undefined) return
  const { count, bytes } = artifacts.usage(tenantId)
  if (maxArtifacts !== undefined && count + arriving.length > maxArtifacts) throw exceeded('maxArtifacts', maxArtifacts, 'artifacts')
  if (maxArtifactBytes !== undefined && bytes + more > maxArtifactBytes)
    throw exceeded('maxArtifactBytes', maxArtifactBytes, 'bytes of artifacts')
}

/** Bytes that one more may have: what arrives beyond that is not written. */
export function roomFor({ artifacts }: Rows, { tenantId, quotas }: Caller): number {
  const most = quotas?.maxArtifactBytes
  return most === undefined ? Number.POSITIVE_INFINITY : most - artifacts.usage(tenantId).bytes
}

/** What was made then, or before, is kept no longer. */
export function keptSince({ quotas }: Caller, now: number): number {
  return now - (quotas?.artifactRetentionDays ?? Number.POSITIVE_INFINITY) * DAY
}

function exceeded(quota: string, limit: number, what: string): SvcError {
  return new SvcError('quota.exceeded', `The quota of this tenant is used up: it may have ${limit} ${what}. Delete some first.`, {
    quota,
    limit,
  })
}

function full(limit: number): SvcError {
  const message = `Uploads may take ${limit} bytes on this server (storage.artifactsMiB). Delete some first, or have more allowed.`
  return new SvcError('quota.exceeded', message, { quota: 'storage.artifactsMiB', limit })
}
