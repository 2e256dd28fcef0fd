/** How much may lie in the state directory, and for how long: `storage` of the configuration of the installation, else the limits. */
import { LIMITS } from '../../protocol/limits.js'
import { StorageConfig } from '../../protocol/resource/agent-config.js'
import { isRecord } from '../../protocol/text/json.js'

/** Ages in ms. */
export interface StorageBounds {
  readonly events: { readonly age: number; readonly bytes: number }
  readonly outputs: { readonly age: number; readonly bytes: number }
  readonly undo: { readonly bytes: number }
  /** Of the texts that are indexed. */
  readonly search: { readonly age: number; readonly bytes: number }
  readonly artifacts: { readonly age: number; readonly bytes: number }
}

const DAY = 86_400_000
const MIB = 1024 * 1024

export const USUAL_BOUNDS: StorageBounds = boundsOf({})

export interface FollowedBounds {
  /** As they were looked up last. */
  now(): StorageBounds
  /** Looks them up; while the configuration cannot be read they stay as they were. */
  refresh(): Promise<StorageBounds>
}

/** `load` reads the configuration of the installation; without it the usual bounds hold. */
export function followBounds(load: () => Promise<unknown> = async () => ({})): FollowedBounds {
  let bounds = USUAL_BOUNDS
  return {
    now: () => bounds,
    refresh: async () => (bounds = await load().then(boundsOf, () => bounds)),
  }
}

/** A value that is none counts as absent. */
export function boundsOf(document: unknown): StorageBounds {
  const { shape } = StorageConfig
  const storage = isRecord(document) && isRecord(document['storage']) ? document['storage'] : {}
  const read = (key: keyof typeof shape, unit: number, usual: number) => {
    const value = shape[key].safeParse(storage[key]).data
    return value === undefined ? usual : Math.floor(value * unit)
  }
  return {
    events: { age: read('eventsDays', DAY, LIMITS.events.retainedAge), bytes: read('eventsMiB', MIB, LIMITS.events.retainedBytes) },
    outputs: { age: read('outputsDays', DAY, LIMITS.tools.artifactRetention), bytes: read('outputsMiB', MIB, LIMITS.tools.storedBytes) },
    undo: { bytes: read('undoMiB', MIB, LIMITS.undo.storedBytes) },
    search: { age: read('searchDays', DAY, Number.POSITIVE_INFINITY), bytes: read('searchMiB', MIB, LIMITS.search.storedBytes) },
    artifacts: { age: read('artifactsDays', DAY, Number.POSITIVE_INFINITY), bytes: read('artifactsMiB', MIB, Number.POSITIVE_INFINITY) },
  }
}
