/** What a skill consists of: a SKILL.md and files beside it, all regular, few and small (subsystems b.13; threat-model F2, F4). */
import { join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { SkillBundle, SkillWriteRequest } from '../../../protocol/resource/managed-skills.js'
import type { Effects } from '../../../ports/effects.js'
import { parseMarkdown } from '../markdown/frontmatter.js'
import { markdownText } from './managed-text.js'

export const SKILL_FILE = 'SKILL.md'
/** Bytes by relative path. */
export type Bundle = ReadonlyMap<string, Uint8Array>

/** In place of what is no UTF-8. */
const LOST = '\uFFFD'
const BOUNDS = LIMITS.management.skills
// oxlint-disable-next-line no-control-regex -- names of files are kept free of control characters
const SEGMENT = /^(?!\.{1,2}$)[^\\/\u0000-\u001f\u007f]{1,255}$/u

/** The files of a request. Throws `management.invalid_request` for what cannot be one. */
export function bundleOf(id: string, request: SkillWriteRequest): Bundle {
  const { content, files = {}, name = id, description, version, license, compatibility, metadata } = request
  const values: JsonRecord = { name, description, version, license, compatibility, metadata }
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  const bundle = new Map([[SKILL_FILE, Buffer.from(markdownText(given, content))]])
  if (Object.keys(files).length > BOUNDS.files) throw invalid(`A skill has at most ${BOUNDS.files} files besides ${SKILL_FILE}.`)
  for (const [path, text] of Object.entries(files)) {
    const problem = whyNoPath(path)
    if (problem !== undefined) throw invalid(`The file ${JSON.stringify(path)} ${problem}.`, path)
    bundle.set(path, Buffer.from(text))
  }
  refuseOverlaps([...bundle.keys()])
  for (const [path, bytes] of bundle) {
    if (path !== SKILL_FILE && bytes.byteLength > BOUNDS.fileBytes)
      throw invalid(`"${path}" is larger than ${BOUNDS.fileBytes} bytes.`, path)
  }
  if (sizeOf(bundle) > BOUNDS.bundleBytes) throw invalid(`The skill is larger than ${BOUNDS.bundleBytes} bytes.`)
  return bundle
}

/** The rest of a sentence that begins with a file; undefined for a plain relative path. */
function whyNoPath(path: string): string | undefined {
  const segments = path.split('/')
  if (path.length > BOUNDS.pathLength) return `has a path longer than ${BOUNDS.pathLength} characters`
  if (!segments.every((segment) => SEGMENT.test(segment))) return 'is no plain relative path'
  if (segments.some((segment) => segment.toLowerCase() === '.git')) return 'lies in a .git directory'
  return segments.at(-1)?.toLowerCase() === SKILL_FILE.toLowerCase() ? `is named ${SKILL_FILE}` : undefined
}

/** Two names that one file system takes for the same, or a file where another one needs a directory. */
function refuseOverlaps(paths: readonly string[]): void {
  const folded = new Set<string>()
  for (const path of paths) {
    const name = path.toLowerCase()
    if (folded.has(name)) throw invalid(`The file "${path}" is there twice.`, path)
    folded.add(name)
  }
  for (const path of folded) {
    const inside = [...folded].find((other) => other.startsWith(`${path}/`))
    if (inside !== undefined) throw invalid(`"${path}" is both a file and a directory.`, path)
  }
}

/** What is in the folder of a skill; undefined when there is no SKILL.md; the rest of a sentence when it is none of ours. */
export async function readBundle({ files }: Pick<Effects, 'files'>, folder: string): Promise<Bundle | string | undefined> {
  const entry = await files.entry(folder)
  if (entry === undefined) return undefined
  if (entry.kind !== 'directory') return 'is no directory'
  const bundle = new Map<string, Uint8Array>()
  let size = 0
  try {
    for await (const { path, kind, size: bytes } of files.walk(folder, { maxEntries: BOUNDS.files * 4 })) {
      if (kind === 'link') return `holds the link "${path}"`
      if (path.includes(LOST)) return `holds the file "${path}", whose name is no UTF-8`
      size += bytes
      if (size > BOUNDS.bundleBytes || bundle.size > BOUNDS.files) return 'is larger than a managed skill may be'
      bundle.set(path, await files.read(join(folder, path), BOUNDS.bundleBytes, { canonical: true }))
    }
  } catch (error) {
    if (error instanceof SvcError) return 'is larger than a managed skill may be'
    const { code } = Object(error) as { readonly code?: unknown }
    if (typeof code === 'string') return `holds what cannot be read (${code})`
    throw error
  }
  if (bundle.size === 0) return undefined
  return bundle.has(SKILL_FILE) ? bundle : `has no ${SKILL_FILE}`
}

/** `sha256:` over the files in the order of their paths: path, NUL, bytes, NUL of each. */
export function revisionOf({ hasher }: Pick<Effects, 'hasher'>, bundle: Bundle): string {
  const hash = hasher()
  const nul = new Uint8Array(1)
  for (const path of [...bundle.keys()].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    for (const piece of [Buffer.from(path), nul, bundle.get(path) ?? nul, nul]) hash.update(piece)
  }
  return `sha256:${hash.digest()}`
}

/** A bundle as a request would write it, as far as its files are text. */
export function shownBundle(bundle: Bundle): SkillBundle {
  const { values, content } = readSkill(bundle)
  const files = [...bundle]
    .filter(([path]) => path !== SKILL_FILE)
    .map(([path, bytes]): [string, string] => [path, Buffer.from(bytes).toString('utf8')])
  const text = (key: string) => (typeof values[key] === 'string' ? { [key]: values[key] } : {})
  const metadata = values['metadata']
  return {
    content,
    ...text('name'),
    ...text('description'),
    ...text('version'),
    ...text('license'),
    ...(values['compatibility'] !== undefined && { compatibility: values['compatibility'] }),
    ...(typeof metadata === 'object' && metadata !== null && { metadata: { ...metadata } }),
    ...(files.length > 0 && { files: Object.fromEntries(files) }),
  }
}

/** Front matter and body of the SKILL.md; one that cannot be read is all body. */
export function readSkill(bundle: Bundle): { readonly values: JsonRecord; readonly content: string } {
  const text = Buffer.from(bundle.get(SKILL_FILE) ?? []).toString('utf8')
  const read = parseMarkdown(text)
  return read.ok ? { values: read.values, content: read.body } : { values: {}, content: text }
}

function sizeOf(bundle: Bundle): number {
  return [...bundle.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

function invalid(message: string, path?: string): SvcError {
  return new SvcError(
    'management.invalid_request',
    message,
    path === undefined ? {} : { issues: [{ path: `body.files.${path}`, message }] },
  )
}
