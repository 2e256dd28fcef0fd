/**
 * An entry of a map of programs, switched on or off in the file that defines it last (subsystems f.4).
 *
 * I1 What it would come to is worked out before anything is written: a change that another file would undo changes nothing.
 */
import { SvcError } from '../../../protocol/errors.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import type { EntryDefiner } from '../../../ports/facades.js'
import { deepMerge, recordAt } from '../config/config-merge.js'
import { mergePatch } from '../config/config-patch.js'
import { type EntryFile, writeEntry, type WriteEffects } from './config-write.js'
import type { ConfigSnapshot } from './snapshot.js'

/** A map of programs, and the name of one. */
export interface EntryName {
  readonly key: 'mcp'
  readonly name: string
}

type Layers = Pick<ConfigSnapshot, 'layers' | 'trustOf' | 'trusted'>
type Layer = readonly [file: string, document: JsonRecord]

/** Entries that files of the workspace define, and none of the installation. */
export function broughtEntries({ said, trusted }: Pick<ConfigSnapshot, 'said' | 'trusted'>, key: EntryName['key']): JsonRecord {
  const known = recordAt(trusted, key)
  const brought = Object.entries(recordAt(said, key)).filter(([name, entry]) => !Object.hasOwn(known, name) && !isSwitch(entry))
  return Object.fromEntries(brought)
}

export function definerOf(snapshot: Layers, entry: EntryName): EntryDefiner | undefined {
  const file = definingLayers(snapshot, entry).at(-1)?.[0]
  if (file === undefined) return undefined
  return { scope: snapshot.trustOf.get(file) === 'workspace' ? 'workspace' : 'global', file: file.startsWith('/') ? file : undefined }
}

/** Throws `request.invalid` where nothing can be written, `resource.conflict` when another file decides. */
export async function switchEntry(
  effects: WriteEffects,
  snapshot: Layers & Pick<ConfigSnapshot, 'worktree'>,
  entry: EntryName,
  enabled: boolean,
): Promise<void> {
  const [file, document] = definingLayers(snapshot, entry).at(-1) ?? []
  if (file === undefined || document === undefined || !file.startsWith('/'))
    throw new SvcError('request.invalid', `"${entry.key}.${entry.name}" is of no file; it cannot be switched there.`, { name: entry.name })
  const isOfInstallation = Object.hasOwn(recordAt(snapshot.trusted, entry.key), entry.name)
  const trust = snapshot.trustOf.get(file) ?? 'installation'
  const change = changeOf(valueIn(document, entry), { enabled, isOnlySwitch: trust === 'workspace' && isOfInstallation })
  const layers = new Map(snapshot.layers).set(file, mergePatch(document, { [entry.key]: { [entry.name]: change } }))
  const decides = whoDiffers({ ...snapshot, layers }, entry, enabled)
  if (decides !== undefined) {
    const message = `"${entry.key}.${entry.name}" stays ${enabled ? 'off' : 'on'}, because of ${decides}; nothing was changed.`
    throw new SvcError('resource.conflict', message, { name: entry.name })
  }
  const place: EntryFile = { path: file, trust, within: trust === 'workspace' ? snapshot.worktree : undefined }
  await writeEntry(effects, place, entry, change)
}

function definingLayers({ layers }: Layers, entry: EntryName): readonly Layer[] {
  return [...layers].filter(([, document]) => valueIn(document, entry) !== undefined)
}

function valueIn(document: JsonRecord, { key, name }: EntryName): unknown {
  const entries = recordAt(document, key)
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}

/** What the file is to say; `null` takes out what a workspace says of an entry that is not its own. */
function changeOf(
  value: unknown,
  { enabled, isOnlySwitch }: { readonly enabled: boolean; readonly isOnlySwitch: boolean },
): JsonRecord | null {
  if (enabled && isOnlySwitch) return null
  return { enabled, ...(enabled && isRecord(value) && value['disabled'] === true && { disabled: false }) }
}

/** I1: the last file that leaves it otherwise; a workspace counts where it may. */
function whoDiffers(snapshot: Layers, entry: EntryName, enabled: boolean): string | undefined {
  const isOfInstallation = Object.hasOwn(recordAt(snapshot.trusted, entry.key), entry.name)
  const counting = definingLayers(snapshot, entry).filter(
    ([file, document]) => !isOfInstallation || snapshot.trustOf.get(file) !== 'workspace' || isSwitch(valueIn(document, entry)),
  )
  const merged = counting.reduce<JsonRecord>((all, [, document]) => deepMerge(all, { entry: valueIn(document, entry) }), {})['entry']
  if (!isOff(merged) === enabled) return undefined
  return counting.findLast(([, document]) => isOff(valueIn(document, entry)) === enabled)?.[0] ?? counting.at(-1)?.[0]
}

function isOff(value: unknown): boolean {
  return isRecord(value) && (value['enabled'] === false || value['disabled'] === true)
}

/** It says nothing but that it is off. */
function isSwitch(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 1 && isOff(value)
}
