/**
 * Completes approvals that name a revision and no digest, as those of other tools and of earlier versions do (choices 28).
 *
 * I1 Our own copy of what was approved decides, as long as there is one. I2 Without it, what was seen under the revision
 *    before anybody approved it. I3 Without that, only content whose revision no other such content has; the rest asks.
 * I4 Code that runs in the server is never approved by what was found out: that approval names its digest itself (decision 45).
 */
import type { TrustRecord } from '../../../protocol/plugin/plugin.js'
import { createLru } from '../../../kernel/lru.js'
import type { PackageStore } from './package-store.js'

export interface TrustPins {
  /** The records, with the digests that can be told. */
  complete(found: SeenContent, records: readonly TrustRecord[]): Promise<readonly TrustRecord[]>
}

interface SeenContent {
  readonly id: string
  readonly revision: string
  readonly digest: string
  readonly isPlain: boolean
}

const REMEMBERED = 4096

export function createTrustPins(store: Pick<PackageStore, 'digestOf'>): TrustPins {
  /** What was seen first under a revision. */
  const seen = createLru<string, { readonly digest: string; readonly wasApproved: boolean }>(REMEMBERED)

  const digestOf = async (found: SeenContent, { revision }: TrustRecord): Promise<string | undefined> => {
    const kept = await store.digestOf(revision)
    if (kept !== undefined) return kept // I1
    if (revision !== found.revision) return undefined
    const first = seen.get(keyOf(found))
    if (first?.wasApproved === false) return first.digest // I2
    return found.isPlain && first?.digest === found.digest ? found.digest : undefined // I3
  }

  return {
    async complete(found, records) {
      const wasApproved = records.some(({ revision, digest }) => revision === found.revision && digest === undefined)
      if (found.revision !== '' && seen.get(keyOf(found)) === undefined) seen.set(keyOf(found), { digest: found.digest, wasApproved })
      return Promise.all(
        records.map(async (record) => (record.digest === undefined ? pinned(record, await digestOf(found, record)) : record)),
      )
    },
  }
}

function pinned(record: TrustRecord, digest: string | undefined): TrustRecord {
  return digest === undefined ? record : { ...record, digest, nativeApproved: false } // I4
}

function keyOf({ id, revision }: SeenContent): string {
  return `${id} ${revision}`
}
