/**
 * What must be true around a file before a built-in formatter runs on it (subsystems b.12): a project that wants it, and no setting of the
 * project that would make it run code of the project (threat-model W2). Looked at from the folder of the file upwards, nothing is started.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import { isRecord } from '../../../protocol/text/json.js'
import { excessOf, FRAME_BOUNDS } from '../../../protocol/text/json-bounds.js'
import { LIMITS } from '../../../protocol/limits.js'
import { beginWork, LOOK } from '../../../kernel/work.js'
import type { Formatter } from '../../../protocol/format/formatters.js'
import { dirname, joinPath } from '../../../protocol/text/paths.js'

type Files = Pick<NativeHost['effects']['files'], 'read' | 'stat'>

/** How it runs on a file, that nothing there wants it, or why it would run code of the project, and how. */
export type Verdict =
  | { readonly type: 'runs' /** Folder of what wants it. */; readonly cwd?: string; readonly args?: readonly string[] }
  | { readonly type: 'unwanted' }
  | { readonly type: 'refused'; readonly reason: string; readonly cwd?: string; readonly args?: readonly string[] }

/** A text is decoded, and searched a few times. */
const PER_BYTE = 4
const UNWANTED: Verdict = { type: 'unwanted' }

/**
 * `path` is canonical and absolute; it need not exist. Never rejects. What cannot be read wants no formatter; where it could name code, it counts
 * as if it did, and so do folders that are not looked at because there are too many.
 */
export async function judgeFormatter({ guard }: Pick<Formatter, 'guard'>, path: string, files: Files): Promise<Verdict> {
  if (guard === undefined) return { type: 'runs' }
  return judge(guard, foldersAbove(path), paying(files))
}

/** Looks and texts are paid for: there are many of them, and many of those are read without giving way. */
function paying(files: Files): Files {
  const work = beginWork(Number.POSITIVE_INFINITY)
  return {
    async stat(path) {
      await work.pay(LOOK)
      return files.stat(path)
    },
    async read(path, maxBytes) {
      const bytes = await files.read(path, maxBytes)
      await work.pay(bytes.length * PER_BYTE)
      return bytes
    },
  }
}

function judge(guard: NonNullable<Formatter['guard']>, folders: readonly string[], files: Files): Promise<Verdict> {
  switch (guard) {
    case 'clang-format':
      return nearest(folders, async (folder) => hasOne(files, folder, ['.clang-format', '_clang-format']))
    case 'biome':
      return nearest(folders, async (folder) => hasOne(files, folder, ['biome.json', 'biome.jsonc']))
    case 'ruff':
      return nearest(folders, async (folder) => wantsRuff(files, folder))
    case 'prettier':
      return judgePrettier(files, folders)
    case 'rust':
      return judgeRust(files, folders)
  }
}

/** From the folder of the file to the root, so many of them. */
function foldersAbove(path: string): readonly string[] {
  const folders: string[] = []
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    folders.push(folder)
    if (folder === '/' || folders.length === LIMITS.formatters.folders) return folders
  }
}

/** A program looks further up than we do. */
function unseen(folders: readonly string[]): string | undefined {
  if (folders.at(-1) === '/') return undefined
  return `its settings are looked for in ${folders.length} folders, and more lie above: it could run code of the project`
}

async function nearest(folders: readonly string[], isWanted: (folder: string) => Promise<boolean>): Promise<Verdict> {
  for (const cwd of folders) if (await isWanted(cwd)) return { type: 'runs', cwd }
  return UNWANTED
}

async function hasOne(files: Files, folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const kind = (await files.stat(joinPath(folder, name)).catch(() => undefined))?.kind
    if (kind === 'file' || kind === 'other') return true // a program reads what comes through a pipe
  }
  return false
}

async function textOf(files: Files, path: string): Promise<string | undefined> {
  const bytes = await files.read(path, LIMITS.formatters.settings).catch(() => undefined)
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

async function wantsRuff(files: Files, folder: string): Promise<boolean> {
  if (await hasOne(files, folder, ['ruff.toml', '.ruff.toml'])) return true
  for (const name of ['pyproject.toml', 'requirements.txt', 'requirements-dev.txt', 'Pipfile']) {
    if (/\bruff\b/.test((await textOf(files, joinPath(folder, name))) ?? '')) return true
  }
  return false
}

async function judgePrettier(files: Files, folders: readonly string[]): Promise<Verdict> {
  const wanted = await nearest(folders, async (folder) => /"prettier"/.test((await textOf(files, joinPath(folder, 'package.json'))) ?? ''))
  if (wanted.type !== 'runs') return wanted
  for (const folder of folders) {
    const settings = await prettierSettings(files, folder)
    if (settings.type === 'loads')
      return { ...wanted, type: 'refused', reason: `it would run code of the project, because of ${settings.because}` }
    if (settings.type === 'plain') return wanted // the nearest settings are the only ones
  }
  const reason = unseen(folders)
  return reason === undefined ? wanted : { ...wanted, type: 'refused', reason }
}

const CODE = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].flatMap((ending) => [`.prettierrc.${ending}`, `prettier.config.${ending}`])
const TEXTS = ['.prettierrc', '.prettierrc.json', '.prettierrc.yaml', '.prettierrc.yml', '.prettierrc.json5', '.prettierrc.toml']
const PACKAGES = ['package.json', 'package.yaml']

type Settings = { readonly type: 'none' | 'plain' } | { readonly type: 'loads'; readonly because: string }

/** What Prettier finds in one folder: `loads` = settings that are code, that name some, or that cannot be read for certain. */
async function prettierSettings(files: Files, folder: string): Promise<Settings> {
  let type: 'none' | 'plain' = 'none'
  for (const name of CODE) if (await hasOne(files, folder, [name])) return { type: 'loads', because: joinPath(folder, name) }
  for (const name of [...TEXTS, ...PACKAGES]) {
    const path = joinPath(folder, name)
    if (!(await hasOne(files, folder, [name]))) continue
    const text = await textOf(files, path)
    const kind = text === undefined ? 'loads' : PACKAGES.includes(name) ? packageSettings(text, name) : kindOf(text, name)
    if (kind === 'loads') return { type: 'loads', because: path }
    if (kind === 'plain') type = kind
  }
  return { type }
}

const PARSERS =
  'acorn angular babel babel-flow babel-ts css espree flow glimmer graphql html json json-stringify json5 jsonc less lwc markdown mdx meriyah scss typescript vue yaml'
/** A parser of another name is a module that Prettier loads, in versions before its third. */
const OTHER_PARSER = new RegExp(`parser(?!["']?\\s*[:=][ \\t]*(["']?)(?:${PARSERS.replaceAll(' ', '|')})\\1(?=\\s*[,}\\]\\n]|\\s+#|\\s*$))`)

/** Settings that name plugins or a parser of their own, or are nothing but a name, are loaded as code; what is escaped or tagged could be either. */
function kindOf(text: string, name: string): 'plain' | 'loads' {
  if (/plugins|\\|!!/.test(text) || OTHER_PARSER.test(text)) return 'loads'
  const lines = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => line.trim())
  const first = lines.find((line) => line !== '' && line !== '---' && !line.startsWith('#'))
  if (first === undefined || first.startsWith('{') || name.endsWith('.toml')) return 'plain'
  return /^[A-Za-z]+\s*:(?:\s|$)/.test(first) ? 'plain' : 'loads'
}

function packageSettings(text: string, name: string): 'none' | 'plain' | 'loads' {
  if (name === 'package.yaml') return /prettier|\\|!!/.test(text) ? 'loads' : 'none'
  if (excessOf(new TextEncoder().encode(text), FRAME_BOUNDS) !== undefined) return 'loads' // nobody writes such a one
  let settings: unknown
  try {
    const read: unknown = JSON.parse(text)
    settings = isRecord(read) ? read['prettier'] : undefined
  } catch {
    return 'none' // Prettier does not read it either
  }
  if (settings === undefined || settings === null) return 'none'
  const said = JSON.stringify(settings)
  return isRecord(settings) && !said.includes('"plugins"') && !OTHER_PARSER.test(said) ? 'plain' : 'loads'
}

const EDITION = /(?<![^\n])[ \t]*edition[ \t]*=[ \t]*["'](\d{4})["']/

/** In the edition of the crate; a project may not say which program the name `rustfmt` stands for. */
async function judgeRust(files: Files, folders: readonly string[]): Promise<Verdict> {
  let edition: string | undefined
  let reason = unseen(folders)
  for (const folder of folders) {
    for (const name of ['rust-toolchain.toml', 'rust-toolchain']) {
      if (!(await hasOne(files, folder, [name]))) continue
      const toolchain = await textOf(files, joinPath(folder, name))
      if (toolchain === undefined || /path|\\/.test(toolchain)) {
        reason ??= `${joinPath(folder, name)} may name a toolchain by its path: it would run code of the project`
      }
    }
    edition ??= EDITION.exec((await textOf(files, joinPath(folder, 'Cargo.toml'))) ?? '')?.[1]
  }
  const how = { ...(folders[0] !== undefined && { cwd: folders[0] }), args: ['--edition', edition ?? '2021'] }
  return reason === undefined ? { type: 'runs', ...how } : { type: 'refused', reason, ...how }
}
