/**
 * What external agents have told before, on disk (subsystems l.3). Public fields alone: no session, no environment.
 */
import * as z from 'zod'
import { ExternalOptionsPreview } from '../../protocol/external/external.js'
import { LIMITS } from '../../protocol/limits.js'
import type { NativeHost } from '../../ports/plugin.js'

const Kept = z.strictObject({ version: z.literal(1), taken: z.number(), preview: ExternalOptionsPreview })

interface Snapshot {
  readonly preview: ExternalOptionsPreview
  readonly isFresh: boolean
}

export interface Snapshots {
  read(key: string): Promise<Snapshot | undefined>
  keep(key: string, preview: ExternalOptionsPreview): Promise<void>
}

export function createSnapshots({ files, clock, paths, log }: Pick<NativeHost['effects'], 'files' | 'clock' | 'paths' | 'log'>): Snapshots {
  const fileOf = (key: string) => `${paths.cache}/acp-options-v1/${key}.json`
  return {
    async read(key) {
      try {
        const text = new TextDecoder().decode(await files.read(fileOf(key), LIMITS.external.snapshotBytes))
        const { taken, preview } = Kept.parse(JSON.parse(text))
        const age = clock.now() - taken
        return { preview, isFresh: age >= 0 && age < LIMITS.external.fresh }
      } catch {
        return undefined // There is none, or none that can be used.
      }
    },
    async keep(key, preview) {
      const text = JSON.stringify({ version: 1, taken: clock.now(), preview } satisfies z.input<typeof Kept>)
      if (text.length > LIMITS.external.snapshotBytes) return
      await files
        .writeAtomic(fileOf(key), text, { mode: 0o600 })
        .catch((error: unknown) => log.warn('what an external agent has told cannot be kept', { cause: String(error) }))
    },
  }
}
