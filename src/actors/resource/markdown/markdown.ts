/** Agents, modes, commands and skills written as Markdown in a configuration directory (subsystems b.6, b.10). */
import { basename, dirname, join, relative } from 'node:path'
import type * as z from 'zod'
import { asDeclared } from '../../../protocol/text/leniency.js'
import { AgentConfig, canonicalKey, CommandConfig } from '../../../protocol/resource/agent-config.js'
import { isWithin } from '../../../protocol/caller.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Origin } from '../config/config-files.js'
import { findUnsupported } from '../config/config-unsupported.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { isReservedKey, RESERVED_KEY } from '../config/config-merge.js'
import type { FileProbe } from '../../../ports/watched.js'
import { WorkExceeded } from '../../../kernel/work.js'
import { readMarkdown as parse } from './frontmatter.js'

/** Dropped keys of one file that are told. */
const MAX_RESERVED = 16

export interface MarkdownEntry {
  readonly kind: 'agent' | 'command'
  readonly name: string
  /** The definition with documented spellings, body included as `prompt` or `template`. */
  readonly definition: JsonRecord
}

/** A file of a kind folder, whether it can be used or not. */
export interface DefinitionFile {
  readonly kind: MarkdownEntry['kind']
  readonly path: string
  /** `sha256:` and the hash of its bytes; undefined when it could not be read. */
  readonly revision: string | undefined
  readonly modifiedMs: number
  /** What it defines; undefined when it is not used. */
  readonly entry: MarkdownEntry | undefined
  /** What it defined when it could be read, while it makes no sense: this counts. */
  readonly kept?: MarkdownEntry
}

type Sha256 = (data: Uint8Array) => string

export interface SkillEntry {
  /** Name of the directory that holds `SKILL.md`. */
  readonly id: string
  readonly path: string
  readonly description: string | undefined
}

export interface Scanned<Entry> {
  readonly entries: readonly Entry[]
  readonly diagnostics: readonly ConfigDiagnostic[]
}

interface Kind {
  readonly kind: MarkdownEntry['kind']
  readonly folders: readonly string[]
  readonly body: 'prompt' | 'template'
  readonly preset: JsonRecord
  readonly schema: z.ZodType<JsonRecord>
}

const KINDS: readonly Kind[] = [
  { kind: 'agent', folders: ['agent', 'agents'], body: 'prompt', preset: {}, schema: AgentConfig },
  { kind: 'agent', folders: ['mode', 'modes'], body: 'prompt', preset: { mode: 'primary' }, schema: AgentConfig },
  { kind: 'command', folders: ['command', 'commands'], body: 'template', preset: {}, schema: CommandConfig },
]
const SKILL_FOLDERS = ['skill', 'skills']
const SKILL_FILE = 'SKILL.md'
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules'])
const MAX_FOLDER_DEPTH = 16

/** Agents and commands of one configuration directory; a file that cannot be read is reported, and left out unless it could be read before. */
export async function scanDefinitions(
  probe: FileProbe,
  origin: Origin,
  { sha256, lastFiles }: { readonly sha256: Sha256; readonly lastFiles: readonly DefinitionFile[] },
): Promise<Scanned<MarkdownEntry> & { readonly files: readonly DefinitionFile[] }> {
  const entries: MarkdownEntry[] = []
  const files: DefinitionFile[] = []
  const diagnostics: ConfigDiagnostic[] = []
  for (const kind of KINDS) {
    for (const folder of kind.folders) {
      const root = { ...origin, path: join(origin.path, folder) }
      const found = await findFiles(probe, root, (name) => name.endsWith('.md'))
      diagnostics.push(...found.diagnostics)
      for (const path of found.entries) {
        const read = await readDefinition(probe, { ...origin, path }, { kind, root: root.path, sha256 })
        const file = withLastGood(read, lastFiles)
        files.push(file.file)
        diagnostics.push(...file.diagnostics)
        const entry = file.file.entry ?? file.file.kept
        if (entry !== undefined) entries.push(entry)
      }
    }
  }
  return { entries, diagnostics, files }
}

/** A file that was read and makes no sense just now says what it said before, as a configuration file does. */
function withLastGood(read: DefinitionRead, lastFiles: readonly DefinitionFile[]): DefinitionRead {
  const { file } = read
  if (file.entry !== undefined || file.revision === undefined) return read
  const before = lastFiles.find(({ kind, path }) => kind === file.kind && path === file.path)
  const kept = before?.entry ?? before?.kept
  return kept === undefined ? read : { ...read, file: { ...file, kept } }
}

/** Skills in the `skill` and `skills` folders of a configuration directory. */
export async function scanSkillFolders(probe: FileProbe, origin: Origin): Promise<Scanned<SkillEntry>> {
  const scans = await Promise.all(SKILL_FOLDERS.map((folder) => scanSkills(probe, { ...origin, path: join(origin.path, folder) })))
  return { entries: scans.flatMap((scan) => scan.entries), diagnostics: scans.flatMap((scan) => scan.diagnostics) }
}

/** Every skill below a directory. */
export async function scanSkills(probe: FileProbe, root: Origin): Promise<Scanned<SkillEntry>> {
  const found = await findFiles(probe, root, (name) => name === SKILL_FILE)
  const entries: SkillEntry[] = []
  const diagnostics = [...found.diagnostics]
  for (const path of found.entries) {
    const id = basename(dirname(path))
    const { read } = await readMarkdown(probe, { ...root, path })
    if (typeof read === 'string')
      diagnostics.push({ level: 'error', path: `skill.${id}`, message: `${path} ${read}`, file: path, line: lineOf(read), column: 1 })
    else entries.push({ id, path, description: textOrNothing(read.values['description']) })
  }
  return { entries, diagnostics }
}

interface DefinitionRead {
  readonly file: DefinitionFile
  /** Why it is not used, or which of its keys are without effect. */
  readonly diagnostics: readonly ConfigDiagnostic[]
}

/** What was made of bytes that are still the ones of their file. */
const definitions = new WeakMap<Uint8Array, DefinitionRead>()

async function readDefinition(
  probe: FileProbe,
  origin: Origin,
  { kind, root, sha256 }: { readonly kind: Kind; readonly root: string; readonly sha256: Sha256 },
): Promise<DefinitionRead> {
  const markdown = await readMarkdown(probe, origin)
  const { bytes, modifiedMs = 0 } = markdown
  const known = bytes && definitions.get(bytes)
  if (known?.file.path === origin.path && known.file.kind === kind.kind && known.file.modifiedMs === modifiedMs) return known
  const read = readEntry(markdown, origin, kind, root)
  const file = { kind: kind.kind, path: origin.path, revision: bytes && `sha256:${sha256(bytes)}`, modifiedMs }
  const result =
    'level' in read
      ? { file: { ...file, entry: undefined }, diagnostics: [read] }
      : { file: { ...file, entry: read }, diagnostics: [...dropped(markdown.read, read, origin.path), ...withoutEffect(read, origin.path)] }
  if (bytes !== undefined) definitions.set(bytes, result)
  return result
}

function withoutEffect({ kind, name, definition }: MarkdownEntry, file: string): ConfigDiagnostic[] {
  return findUnsupported({ [kind]: { [name]: definition } }).map(({ path: [, , ...key], reason }) =>
    hasNoEffect([kind, name], key.join('.'), reason, file),
  )
}

function dropped(read: MarkdownRead['read'], { kind, name }: MarkdownEntry, file: string): ConfigDiagnostic[] {
  const reserved = typeof read === 'string' ? [] : (read.reserved ?? [])
  return reserved.slice(0, MAX_RESERVED).map((key) => hasNoEffect([kind, name], key, RESERVED_KEY, file))
}

function hasNoEffect(place: readonly string[], key: string, reason: string, file: string): ConfigDiagnostic {
  const message = `${file}: "${key}" has no effect: ${reason}`
  return { level: 'warning', code: 'unsupported', path: [...place, key].join('.'), message, file }
}

function readEntry({ read: markdown }: MarkdownRead, origin: Origin, kind: Kind, root: string): MarkdownEntry | ConfigDiagnostic {
  const fileName = relative(root, origin.path).replace(/\.md$/, '').replaceAll('\\', '/')
  const problem = (message: string, name = fileName, line?: number): ConfigDiagnostic => {
    const place = { file: origin.path, ...(line !== undefined && { line, column: 1 }) }
    return { level: 'error', path: `${kind.kind}.${name}`, message: `${origin.path} ${message}`, ...place }
  }
  if (typeof markdown === 'string') return problem(markdown, fileName, lineOf(markdown))
  const name = textOrNothing(markdown.values['name']) ?? fileName
  if (isReservedKey(name)) return problem('has a reserved name')
  const renamed = Object.entries(markdown.values).map(([key, value]): [string, unknown] => [canonicalKey([kind.kind, name], key), value])
  const definition: JsonRecord = {
    ...kind.preset,
    ...Object.fromEntries(renamed),
    ...(markdown.body !== '' && { [kind.body]: markdown.body }),
  }
  const checked = kind.schema.safeParse(asDeclared(kind.schema, definition))
  if (checked.success) return { kind: kind.kind, name, definition: checked.data }
  const [issue] = checked.error.issues
  return problem(`is not used: "${issue?.path.join('.') ?? ''}" ${issue?.message ?? 'is not valid'}`, name)
}

/** The line that a reason names; a file as a whole begins with its first. */
function lineOf(reason: string): number {
  return Number(/ line (\d+):/.exec(reason)?.[1] ?? 1)
}

interface MarkdownRead {
  /** The parsed file, or why it is not used, as the rest of a sentence that starts with its path. */
  readonly read: { readonly values: JsonRecord; readonly reserved?: readonly string[]; readonly body: string } | string
  readonly bytes?: Uint8Array
  readonly modifiedMs?: number
}

const texts = new WeakMap<Uint8Array, MarkdownRead['read']>()

async function readMarkdown(probe: FileProbe, origin: Origin): Promise<MarkdownRead> {
  const outcome = await probe.readText(origin.path, { maxBytes: LIMITS.config.markdownBytes, within: origin.within })
  if (outcome.type === 'absent') return { read: 'has disappeared' }
  if (outcome.type !== 'text') return { read: `is not read: it ${outcome.reason}` }
  const { bytes, modifiedMs } = outcome
  const known = texts.get(bytes)
  if (known !== undefined) return { read: known, bytes, modifiedMs }
  try {
    const markdown = await probe.work.read(parse(outcome.text))
    const read = markdown.ok ? markdown : `is not used: line ${markdown.line}: ${markdown.message}`
    texts.set(bytes, read)
    return { read, bytes, modifiedMs }
  } catch (error) {
    if (!(error instanceof WorkExceeded)) throw error
    return { read: 'is not used: reading it, with the files beside it, takes more than is spent on them', bytes, modifiedMs }
  }
}

/** Files below a folder in a fixed order, bounded in number and depth; links that leave `within` are not followed. */
async function findFiles(probe: FileProbe, root: Origin, accepts: (name: string) => boolean): Promise<Scanned<string>> {
  const entries: string[] = []
  const visited = new Set<string>()
  let full = false

  const visit = async (path: string, depth: number): Promise<void> => {
    if ((await probe.kind(path)) !== 'directory') return
    const canonical = await probe.canonical(path)
    if (canonical === undefined || visited.has(canonical) || (root.within !== undefined && !isWithin(root.within, canonical))) return
    full ||= depth > MAX_FOLDER_DEPTH || visited.size >= LIMITS.config.filesPerKind
    if (full) return
    visited.add(canonical)
    for (const { name, kind } of await probe.list(path)) {
      const inner = join(path, name)
      const isFolder = kind === 'directory' || (kind === 'link' && (await probe.kind(inner)) === 'directory')
      if (isFolder && !SKIPPED_FOLDERS.has(name)) await visit(inner, depth + 1)
      else if (!isFolder && accepts(name)) entries.push(inner)
    }
  }

  await visit(root.path, 0)
  full ||= entries.length > LIMITS.config.filesPerKind
  const message = `${root.path} holds more than ${LIMITS.config.filesPerKind} files or ${MAX_FOLDER_DEPTH} levels; the rest is not read`
  return {
    entries: entries.slice(0, LIMITS.config.filesPerKind),
    diagnostics: full ? [{ level: 'warning', path: 'config', message }] : [],
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
