/**
 * Notes on a project: Markdown files with a frontmatter, which people may change as well.
 *
 * I1 A name of a file comes from the list of the directory or is made here: nothing else is read or written.
 * I2 A file that cannot be read as a note is one without fields, never an error.
 */
import { cut } from '../../kernel/cut.js'
import type { NativeHost } from '../../ports/plugin.js'
import { beginWork, LOOK, type Reading } from '../../kernel/work.js'
import { readYamlMap } from '../../protocol/text/yaml-map.js'
import { LIMITS } from '../../protocol/limits.js'

const { notes: NOTES, noteBytes: BYTES, name: NAME, description: DESCRIPTION } = LIMITS.memory
const FRONTMATTER = /^---\n([^]*?)\n---\n?/
const FILE_NAME = 80
const DIGEST = 8
const PRIVATE = { mode: 0o600 }

export interface Note {
  readonly fileName: string
  readonly name: string
  readonly description: string
  /** What kind of note it is; empty when it does not say. */
  readonly type: string
  readonly body: string
}

type Host = { readonly effects: Pick<NativeHost['effects'], 'files' | 'sha256'> }

/** By the names of their files; none when there is no directory. */
export async function readNotes({ effects: { files } }: Host, place: string): Promise<readonly Note[]> {
  // Mostly there is none, and each prompt looks: to look is cheap, the error of a failed look is not.
  if ((await files.stat(place).catch(() => undefined)) === undefined) return []
  const entries = await files.readDirectory(place).catch(() => [])
  const names = entries.flatMap(({ name, kind }) => (kind === 'file' && name.endsWith('.md') ? [name] : []))
  const chosen = names.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, NOTES)
  const work = beginWork(Number.POSITIVE_INFINITY)
  const notes: Note[] = []
  for (const fileName of chosen) {
    const bytes = await files.read(`${place}/${fileName}`, BYTES).catch(() => undefined)
    await work.pay(LOOK)
    if (bytes !== undefined) notes.push(await work.read(parseNote(fileName, new TextDecoder().decode(bytes))))
  }
  return notes
}

export async function writeNote({ effects: { files } }: Host, place: string, note: Note): Promise<void> {
  await files.makeDirectory(place, { mode: 0o700 })
  await files.writeAtomic(`${place}/${note.fileName}`, noteText(note), PRIVATE)
}

export async function removeNote({ effects: { files } }: Host, place: string, fileName: string): Promise<void> {
  await files.remove(`${place}/${fileName}`)
}

/** A name for a file from whatever it is called. */
export function fileNameOf({ effects: { sha256 } }: Host, called: string): string {
  const slug = called
    .toLowerCase()
    .replace(/\.md$/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, FILE_NAME)
  return slug === '' ? `note-${sha256(called).slice(0, DIGEST)}.md` : `${slug}.md`
}

export function noteText({ name, description, type, body }: Note): string {
  const fields = { name, description, type }
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `---\n${lines.join('\n')}\n---\n${body.trimEnd()}\n`
}

function* parseNote(fileName: string, text: string): Reading<Note> {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const fence = FRONTMATTER.exec(plain)
  const read = fence === null ? undefined : yield* readYamlMap(`${fence[1]}\n`, { characters: BYTES, aliases: 0 })
  const fields = read?.ok === true ? (read.value ?? {}) : {}
  const field = (key: string, most: number) => cut(oneLine(fields[key]), most, '')
  return {
    fileName,
    name: field('name', NAME) || fileName.replace(/\.md$/, ''),
    description: field('description', DESCRIPTION),
    type: field('type', NAME),
    body: fence === null || read?.ok !== true ? plain : plain.slice(fence[0].length),
  }
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : ''
}
