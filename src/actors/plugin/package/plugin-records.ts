/** What the plugin system knows of each package actor besides its state: where it comes from and how it is started. */
import { cut } from '../../../kernel/cut.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PackageDiagnostic } from '../../../protocol/plugin/plugin.js'
import type { InspectedCall, InspectedLines } from '../../../protocol/system/inspector.js'
import type { NativePlugin } from '../../../ports/plugin.js'
import type { ProcessEntry } from '../../resource/config/entries.js'
import type { HookCommand } from '../entry/hook-manifest.js'
import type { InstanceProblem, StartInstance } from '../generation/instance.js'
import type { Sighting } from './package-look.js'
import { plainSentence } from '../../../protocol/text/plain-sentence.js'
import type { HookReport } from '../registry/publication.js'

export type Origin =
  | { readonly kind: 'native'; readonly plugin: NativePlugin; readonly version: string; readonly start: StartInstance }
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
  /** What its processes wrote to their log last. */
  readonly lines: InspectedLines['lines'][number][]
  /** Its latest calls, oldest first. */
  readonly calls: InspectedCall[]
  /** Who contributes what it was refused for, and whether that has changed since. */
  conflict?: { readonly owner: string; readonly isDue: boolean } | undefined
  /** The hooks whose last call failed, with the reason, as of one generation. */
  unwell: { readonly generation: number; readonly hooks: ReadonlyMap<string, string> }
}

export interface PluginRecords {
  get(key: string): PluginRecord | undefined
  /** Makes the record, or tells it where the package is found now. */
  put(key: string, origin: Origin): void
  delete(key: string): void
  entries(): IterableIterator<[string, PluginRecord]>
}

const WELL: PluginRecord['unwell'] = { generation: 0, hooks: new Map() }

export function createPluginRecords(): PluginRecords {
  const records = new Map<string, PluginRecord>()
  return {
    get: (key) => records.get(key),
    put(key, origin) {
      const known = records.get(key)
      if (known === undefined)
        records.set(key, { origin, droppedFrames: 0, revision: undefined, problems: new Map(), lines: [], calls: [], unwell: WELL })
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

/** Takes down how a hook fared; answers why the plugin is unwell, null when it is well again, undefined when nothing is new. */
export function noteHook(record: PluginRecord, generation: number, { name, failure }: HookReport): string | null | undefined {
  const before = record.unwell.generation === generation ? record.unwell.hooks : WELL.hooks
  if (failure === undefined && !before.has(name)) return undefined
  const hooks = new Map(before)
  hooks.delete(name)
  if (failure !== undefined) hooks.set(name, failure)
  record.unwell = { generation, hooks }
  const [last] = [...hooks].slice(-1)
  return last === undefined ? null : `${last[0]} failed: ${last[1]}`
}

/** What its instances did wrong, for people. */
export function problemsOf({ problems }: PluginRecord): PackageDiagnostic[] {
  return [...problems].map(([code, { message, times }]) => {
    const text = plainSentence(message)
    return { code, message: times === 1 ? text : `${text} (${times} times)` }
  })
}

export function noteLine({ lines }: PluginRecord, { text, ...rest }: InspectedLines['lines'][number]): void {
  lines.push({ ...rest, text: cut(text, LIMITS.inspector.pluginLine, '').toWellFormed() })
  if (lines.length > LIMITS.inspector.pluginLines) lines.shift()
}

export function noteProblem({ problems }: PluginRecord, { code, message }: InstanceProblem): void {
  problems.set(code, { message, times: (problems.get(code)?.times ?? 0) + 1 })
}
