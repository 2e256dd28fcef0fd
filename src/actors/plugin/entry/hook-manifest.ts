/**
 * Finds and reads the manifests of hook commands (plugin-protocol §9.5).
 *
 * I1 Manifests are looked for on their own in `<configuration root>/plugins` only; in a workspace they are inert.
 * I2 A manifest that an entry names is found by an absolute path or below a configuration directory, never below a
 *    workspace (threat-model W2, C5).
 * I3 Files of other users, or that others can write, are not read (threat-model W3).
 */
import { basename, isAbsolute, join } from 'node:path'
import * as z from 'zod'
import { expandHome } from '../../../machines/permission/permission.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { installationDirectories } from '../../resource/config/config-files.js'
import { parseJsonc } from '../../resource/config/config-parse.js'
import { createFileProbe } from '../../../platform/watched/file-probe.js'
import type { FileProbe } from '../../../ports/watched.js'
import { REGISTRY_ID } from '../../../protocol/plugin/plugin.js'
import { EVENT_HOOK, HOOK_NAMES } from '../../../ports/contributions.js'
import { parseNpmSpec } from './npm-cache.js'
import { type DeclarativeEntry, isBuiltInId, type PluginEntries } from '../../resource/config/entries.js'

/** Most often the name of a package of npm, as other programs have it. */
const noPlugin = (name: string) =>
  `no plugin has this name, and nothing is started: a package of npm is installed by svc plugin add npm:${name}, or started by the entry of an id with a dot, { "options": { "npm": "${name}" } }`

const texts = z.record(z.string(), z.string())

export const HookManifest = z.looseObject({
  id: z.string().nullish(),
  chatHeaders: texts.nullish(),
  chatOptions: z.record(z.string(), z.unknown()).nullish(),
  shellEnv: texts.nullish(),
  /** A list, or one line that is split at white space: no shell, no quoting. */
  command: z.union([z.string(), z.array(z.string())]).nullish(),
  /** The hooks the command is run for; absent = every one, `event` included. */
  hooks: z.array(z.enum([...HOOK_NAMES, EVENT_HOOK])).nullish(),
  timeoutMs: z.unknown().optional(),
  sandbox: z.boolean().nullish(),
  network: z.boolean().nullish(),
})
export type HookManifest = z.infer<typeof HookManifest>

/** A hook command, ready to be started with `startHookCommand`. */
export interface HookCommand {
  readonly id: string
  /** Absolute path of the manifest; commands run in its directory. */
  readonly file: string
  readonly manifest: HookManifest
  /** `sha256:<hex>` of the manifest. */
  readonly revision: string
}

export interface HookCommands {
  /** By id, enabled ones only. */
  readonly commands: readonly HookCommand[]
  /** The same, switched off. */
  readonly off: readonly HookCommand[]
  /** Manifests that cannot be used, under the id they are known by. */
  readonly broken: readonly { readonly id: string; readonly reason: string }[]
}

type FindEffects = Pick<Effects, 'files' | 'clock' | 'paths' | 'env' | 'sha256'>

/** Every hook command: those that entries name, then those that lie in the configuration root. */
export async function findHookCommands(effects: FindEffects, entries: PluginEntries): Promise<HookCommands> {
  const probe = createFileProbe(effects)
  const declared = [...entries.driven, ...entries.off].filter((entry) => entry.form === 'declarative')
  const candidates: Candidate[] = []
  const broken: { id: string; reason: string }[] = []
  /** No id that a package could have, and no manifest was named: only one in the configuration root can be meant. */
  const unknown: string[] = []
  for (const entry of declared) {
    const file = await locate(effects, probe, entry)
    if (file !== undefined) candidates.push({ id: nameOf(entry.id), file })
    else if (!entries.isDisabledForAll(entry.id)) {
      if (isScoped(entry.path)) unknown.push(entry.id)
      else if (entry.path !== undefined) broken.push({ id: nameOf(entry.id), reason: `there is no manifest "${entry.path}"` })
      else if (!REGISTRY_ID.test(entry.id)) unknown.push(entry.id)
    }
  }
  const known = new Set(candidates.map(({ file }) => file))
  const taken = new Set(entries.driven.flatMap((entry) => (entry.form === 'declarative' ? [] : [entry.id])))
  candidates.push(...(await discover(effects, probe)).filter(({ file }) => !known.has(file)))

  const commands = new Map<string, HookCommand>()
  const off = new Map<string, HookCommand>()
  for (const candidate of candidates) {
    const read = await readManifest(effects, probe, candidate)
    const { id } = read
    // They are of the installation and judge calls: no workspace switches them off (threat-model W3).
    if (entries.isDisabledForAll(id) || entries.isDisabledForAll(candidate.id)) {
      if (!('reason' in read)) off.set(id, read)
      continue
    }
    const first = commands.get(id)
    if ('reason' in read) broken.push(read)
    else if (taken.has(id))
      broken.push({ id: nameOf(candidate.id), reason: `${candidate.file}: the id "${id}" is already that of an entry` })
    else if (first === undefined) commands.set(id, read)
    else broken.push({ id: nameOf(candidate.id), reason: `${candidate.file}: the id "${id}" is already that of ${first.file}` })
  }
  return {
    commands: [...commands.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    off: [...off.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    broken: [...broken, ...unknown.map((id) => ({ id, reason: noPlugin(id) }))].filter(
      ({ id }) => !commands.has(id) && !off.has(id) && !taken.has(id),
    ),
  }
}

/** `@scope/name` is a package of npm rather than a path. */
function isScoped(path: string | undefined): boolean {
  return path?.startsWith('@') === true && parseNpmSpec(path) !== undefined
}

interface Candidate {
  readonly id: string
  readonly file: string
}

/** An entry that is named by a path goes by the name of the file. */
function nameOf(id: string): string {
  return basename(id, '.json')
}

async function locate(effects: FindEffects, probe: FileProbe, { id, path }: DeclarativeEntry): Promise<string | undefined> {
  const roots = installationDirectories(effects)
  const byName = roots.map((root) => join(root, 'plugins', `${nameOf(id)}.json`))
  for (const file of [...(path === undefined ? [] : placesOf(expandHome(path, effects.paths.home), roots)), ...byName]) {
    if ((await probe.kind(file)) === 'file') return file
  }
  return undefined
}

/** I2 */
function placesOf(path: string, roots: readonly string[]): readonly string[] {
  return isAbsolute(path) ? [path] : roots.map((root) => join(root, path))
}

async function discover({ paths }: FindEffects, probe: FileProbe): Promise<readonly Candidate[]> {
  const directory = join(paths.config, 'plugins') // I1
  const entries = await probe.list(directory)
  return entries
    .filter(({ name, kind }) => name.endsWith('.json') && !name.startsWith('.') && (kind === 'file' || kind === 'link'))
    .slice(0, LIMITS.plugins.packagesPerRoot)
    .map(({ name }) => ({ id: nameOf(name), file: join(directory, name) }))
}

const ID = /^[A-Za-z0-9._-]{1,200}$/

async function readManifest(
  { sha256 }: Pick<Effects, 'sha256'>,
  probe: FileProbe,
  { id, file }: Candidate,
): Promise<HookCommand | { readonly id: string; readonly reason: string }> {
  const read = await probe.readText(file, { maxBytes: LIMITS.plugins.manifestBytes, within: undefined })
  if (read.type !== 'text') return { id, reason: read.type === 'absent' ? `${file} is gone` : `${file} is not read: it ${read.reason}` }
  const parsed = parseJsonc(read.text)
  if (!parsed.ok) return { id, reason: `${file}:${parsed.position.line}:${parsed.position.column}: ${parsed.message}` }
  const checked = HookManifest.safeParse(parsed.value)
  if (!checked.success) {
    const issue = checked.error.issues[0]
    return { id, reason: `${file}: "${issue?.path.map(String).join('.')}" ${issue?.message ?? 'is not valid'}` }
  }
  const own = checked.data.id?.trim()
  const name = own === undefined || own === '' ? id : own
  if (!ID.test(name)) return { id, reason: `${file}: "${name}" is not an id: use letters, digits, ".", "-" and "_"` }
  if (isBuiltInId(name)) return { id, reason: `${file}: "${name}" is the id of a built-in plugin` }
  return { id: name, file, manifest: checked.data, revision: `sha256:${sha256(read.text)}` }
}
