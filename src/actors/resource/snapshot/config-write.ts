/** The one file of a directory that the API writes (subsystems b.5; threat-model F1, F3, W3). */
import { basename, dirname, join } from 'node:path'
import { reachedThrough } from '../../../protocol/text/exposure.js'
import { isWithin } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { isTruthy } from '../../../protocol/system/variables.js'
import { findWorktree, PROJECT_DIRECTORY, type Trust } from '../config/config-files.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { patchText, withoutNulls } from '../config/config-patch.js'
import { parseJsonc } from '../config/config-parse.js'
import { narrowWorkspace } from '../config/config-trust.js'
import { createFileProbe } from '../../../platform/watched/file-probe.js'
import type { FileProbe } from '../../../ports/watched.js'
import { removeProperty, setProperty } from '../config/jsonc-edit.js'
import type { ConfigSnapshot } from './snapshot.js'
import { boundsOf } from '../config/workspace-room.js'

export type WriteEffects = Pick<Effects, 'files' | 'clock' | 'env' | 'paths'>

export interface EntryFile {
  /** Canonical. */
  readonly path: string
  readonly trust: Trust
  readonly within: string | undefined
}

/**
 * Applies a normalised patch to the writable file of a directory: `.svc/config.json` at the worktree top when it
 * exists, else `svc.jsonc` or `svc.json` there; outside a worktree in the directory itself; for the home or
 * configuration directory the installation's `config.jsonc` or `config.json`.
 *
 * A file of a workspace narrows only, so a patch that would be inert there is refused as `request.unprocessable`
 * with `details.keys`; such keys belong in the installation configuration.
 */
export async function writePatch(effects: WriteEffects, snapshot: ConfigSnapshot, patch: JsonRecord): Promise<void> {
  if (Object.keys(patch).length === 0) return
  const probe = createFileProbe(effects)
  const target = await chooseTarget(effects, probe, snapshot.directory)
  if (target.trust === 'workspace') refuseWidening(effects, snapshot, patch)
  await writeText(effects, target, await patchText(await readTarget(probe, target), patch))
}

/** Writes what is said of one entry of a map into a file that takes part; `null` takes the entry out. */
export async function writeEntry(
  effects: WriteEffects,
  place: EntryFile,
  { key, name }: { readonly key: string; readonly name: string },
  change: JsonRecord | null,
): Promise<void> {
  const probe = createFileProbe(effects)
  const canonical = await probe.canonical(place.path)
  if (place.trust === 'workspace') refuseLink(place.path, canonical)
  const target = { ...place, path: canonical ?? place.path }
  const text = await readTarget(probe, target)
  await writeText(
    effects,
    target,
    isBareMap(place.path, text) ? patchEntry(text, name, change) : await patchText(text, { [key]: { [name]: change } }),
  )
}

/** An `mcp.json` that holds the servers themselves. */
function isBareMap(path: string, text: string): boolean {
  const parsed = parseJsonc(text)
  return /^mcp\.jsonc?$/.test(basename(path)) && parsed.ok && !isRecord(parsed.value['mcp'])
}

function patchEntry(text: string, name: string, change: JsonRecord | null): string {
  if (change === null) return removeProperty(text, [name])
  return Object.entries(change).reduce((before, [key, value]) => setProperty(before, [name, key], value), text)
}

async function writeText(effects: WriteEffects, target: EntryFile, text: string): Promise<void> {
  const { fileBytes, values } = boundsOf(target.trust)
  if (values !== undefined && !parseJsonc(text, values).ok) {
    throw new SvcError('request.unprocessable', `The configuration file would have more than ${values} values.`)
  }
  if (Buffer.byteLength(text) > fileBytes) {
    throw new SvcError('request.unprocessable', `The configuration file would be larger than ${fileBytes} bytes.`)
  }
  await refuseExposed(effects, target.path)
  await refuseReadOnly(effects, target.path)
  const options = target.trust === 'workspace' ? { canonical: true } : { canonical: true, mode: 0o600 }
  await effects.files.writeAtomic(target.path, text, options).catch((error: unknown) => {
    throw isDenied(error) ? readOnly(target.path) : error
  })
}

/** The file that `writePatch` would write for a canonical directory; throws `config.invalid` where none may be. */
export async function writableFile(effects: WriteEffects, directory: string): Promise<string> {
  return (await chooseTarget(effects, createFileProbe(effects), directory)).path
}

async function chooseTarget({ files, env, paths }: WriteEffects, probe: FileProbe, directory: string): Promise<EntryFile> {
  const home = (await probe.canonical(paths.home)) ?? paths.home
  const root = (await probe.canonical(paths.config)) ?? paths.config
  if (directory === home || isWithin(root, directory)) {
    const commented = join(root, 'config.jsonc')
    const path = (await files.stat(commented)) === undefined ? join(root, 'config.json') : commented
    return { path: (await probe.canonical(path)) ?? path, trust: 'installation', within: undefined }
  }
  if (isTruthy(env['SVC_AGENT_DISABLE_PROJECT_CONFIG'])) {
    throw new SvcError('config.invalid', 'Project configuration is switched off by SVC_AGENT_DISABLE_PROJECT_CONFIG; it cannot be written.')
  }
  const top = (await findWorktree(probe, directory)) ?? directory
  const nested = join(top, PROJECT_DIRECTORY, 'config.json')
  const commented = join(top, 'svc.jsonc')
  const isNested = top !== home && (await files.stat(nested)) !== undefined
  const path = isNested ? nested : (await files.stat(commented)) === undefined ? join(top, 'svc.json') : commented
  const canonical = await probe.canonical(path)
  refuseLink(path, canonical)
  return { path, trust: 'workspace', within: top }
}

function refuseLink(path: string, canonical: string | undefined): void {
  if (canonical === undefined || canonical === path) return
  throw new SvcError('request.unprocessable', `"${path}" leads to "${canonical}"; configuration is not written through links.`, { path })
}

function refuseWidening({ paths }: WriteEffects, snapshot: ConfigSnapshot, patch: JsonRecord): void {
  const { refused } = narrowWorkspace(withoutNulls(patch), snapshot)
  if (refused.length === 0) return
  const keys = [...new Set(refused.map(({ path }) => path))]
  const message = `A workspace cannot set ${keys.map((key) => `"${key}"`).join(', ')}: ${refused[0]?.reason ?? ''}. Set it in ${join(paths.config, 'config.json')}.`
  throw new SvcError('request.unprocessable', message, { keys })
}

async function readTarget(probe: FileProbe, target: EntryFile): Promise<string> {
  const outcome = await probe.readText(target.path, { maxBytes: LIMITS.config.fileBytes, within: target.within })
  if (outcome.type === 'absent') return ''
  if (outcome.type === 'text') return outcome.text
  const code = outcome.type === 'refused' ? 'request.unprocessable' : 'config.invalid'
  throw new SvcError(code, `${target.path} ${outcome.reason}.`, { file: target.path })
}

/** What would be written there would not be read. */
async function refuseExposed({ files }: WriteEffects, path: string): Promise<void> {
  const exposed = await files.exposure(dirname(path))
  if (exposed === undefined) return
  throw new SvcError('request.unprocessable', `${path} would not be read: it ${reachedThrough(exposed)}.`, { file: path })
}

async function refuseReadOnly({ files }: WriteEffects, path: string): Promise<void> {
  const stat = await files.stat(path)
  if (stat !== undefined && (stat.mode & 0o200) === 0) throw readOnly(path)
}

function readOnly(path: string): SvcError {
  return new SvcError('config.invalid', `${path} is read-only.`, { file: path })
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))
}
