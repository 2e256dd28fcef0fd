/** What the plugin system knows of each package actor besides its state: where it comes from and how it is started. */
import type { PackageDiagnostic } from '../../protocol/plugin.js'
import type { NativePlugin } from './native.js'
import type { ProcessEntry } from './entry/entries.js'
import type { HookCommand } from './entry/hook-manifest.js'
import type { InstanceProblem } from './instance.js'
import type { Sighting } from './package/package-look.js'
import { plainSentence } from './plain-sentence.js'

export type Origin =
  | { readonly kind: 'native'; readonly plugin: NativePlugin }
  | { readonly kind: 'package'; readonly sighting: Sighting }
  | { readonly kind: 'process'; readonly entry: ProcessEntry; readonly directory: string }
  | { readonly kind: 'hook-command'; readonly command: HookCommand; readonly directory: string }

export interface PluginRecord {
  origin: Origin
  /** Of generations that are gone. */
  droppedFrames: number
  /** Content that was started last. */
  revision: string | undefined
  /** The last problem of each kind since other content was started, and how often it came. */
  readonly problems: Map<InstanceProblem['code'], { readonly message: string; readonly times: number }>
  /** A hook failed last. */
  isUnwell: boolean
}

export interface PluginRecords {
  get(key: string): PluginRecord | undefined
  /** Makes the record, or tells it where the package is found now. */
  put(key: string, origin: Origin): void
  delete(key: string): void
  entries(): IterableIterator<[string, PluginRecord]>
}

export function createPluginRecords(): PluginRecords {
  const records = new Map<string, PluginRecord>()
  return {
    get: (key) => records.get(key),
    put(key, origin) {
      const known = records.get(key)
      if (known === undefined) records.set(key, { origin, droppedFrames: 0, revision: undefined, problems: new Map(), isUnwell: false })
      else known.origin = origin
    },
    delete: (key) => void records.delete(key),
    entries: () => records.entries(),
  }
}

/** Other content starts: what the one before did wrong is not its fault. */
export function noteStart(record: PluginRecord, revision: string): void {
  if (record.revision !== revision) record.problems.clear()
  record.revision = revision
}

/** What its instances did wrong, for people. */
export function problemsOf({ problems }: PluginRecord): PackageDiagnostic[] {
  return [...problems].map(([code, { message, times }]) => {
    const text = plainSentence(message)
    return { code, message: times === 1 ? text : `${text} (${times} times)` }
  })
}

export function noteProblem({ problems }: PluginRecord, { code, message }: InstanceProblem): void {
  problems.set(code, { message, times: (problems.get(code)?.times ?? 0) + 1 })
}
