/** The tool `memory`: notes on a project for conversations to come (sessions-events §10.4). */
import { cut } from '../../kernel/cut.js'
import * as z from 'zod'
import { defineTool, type NativeHost, type ToolContribution, ToolError, type ToolResult } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { fileNameOf, type Note, noteText, readNotes, removeNote, writeNote } from './notes.js'
import { memoryPlace } from './place.js'

const { notes: NOTES, noteBytes: BYTES, name: NAME, description: DESCRIPTION, recalled: RECALLED, found: FOUND } = LIMITS.memory
const LINE = 300

const MemoryInput = z.strictObject({
  operation: z.enum(['init', 'list', 'recall', 'search', 'read', 'write']),
  scope: z.enum(['project']).optional().describe('Always the project the session works on.'),
  query: z.string().max(500).optional().describe('recall, search: words to look for.'),
  path: z.string().max(200).optional().describe('read, write: the file of the note, as listed.'),
  fileName: z.string().max(200).optional().describe('The same.'),
  limit: z.number().int().min(1).max(FOUND).optional().describe('recall, search: how many at most.'),
  name: z.string().max(NAME).optional().describe('write: what it is called, in a few words. read: the same instead of a file.'),
  description: z
    .string()
    .max(DESCRIPTION)
    .optional()
    .describe('write: what it says, in one line. Later conversations are shown this line.'),
  type: z.enum(['user', 'feedback', 'project', 'reference']).optional().describe('write: what it is about. Default: project.'),
  body: z.string().max(BYTES).optional().describe('write: the note, as Markdown. Empty: the note is removed.'),
  content: z.string().max(BYTES).optional().describe('The same.'),
})
type MemoryInput = z.infer<typeof MemoryInput>

const DESCRIPTION_TEXT = `Keeps notes on this project for conversations to come.
- write: keeps a note, or replaces the one of that name or file. Keep what is worth knowing next time and is nowhere in the files: decisions, what the user prefers, where things are. Never keep secrets, nor what only concerns this conversation.
- list: the notes, one line each. recall: those that fit a query, whole. search: lines that contain a query. read: one note. init: where they are kept.`

type Host = { readonly effects: NativeHost['effects'] }

export function memoryTool(host: Host): ToolContribution {
  return defineTool<MemoryInput>({
    id: 'memory',
    description: DESCRIPTION_TEXT,
    input: MemoryInput,
    permission: 'memory',
    async needs({ operation, name, fileName, path, description }) {
      const note = name ?? fileName ?? path
      const title = operation === 'write' ? `Remember: ${description ?? note ?? 'a note'}` : `Look at notes: ${operation}`
      return [{ permission: 'memory', patterns: [operation], title, metadata: { operation, ...(note !== undefined && { note }) } }]
    },
    async invoke(input, { directory, signal }) {
      const place = await memoryPlace(host, directory)
      const notes = await readNotes(host, place)
      signal.throwIfAborted()
      switch (input.operation) {
        case 'init':
          return { title: `${notes.length} notes`, output: `Notes on this project are kept in ${place}. There are ${notes.length}.` }
        case 'list':
          return listed(notes)
        case 'recall':
          return recalled(notes, input)
        case 'search':
          return searched(notes, input)
        case 'read': {
          const note = mustFind(notes, input)
          return { title: note.name, output: noteText(note), metadata: { fileName: note.fileName } }
        }
        case 'write':
          return write(host, { place, notes }, input)
      }
    },
  })
}

async function write(host: Host, { place, notes }: { place: string; notes: readonly Note[] }, input: MemoryInput): Promise<ToolResult> {
  const { name, path, fileName = path, description = '', type = 'project', body = input.content } = input
  if (body === undefined) throw new ToolError('A note needs its "body".')
  const before = find(notes, input)
  const called = name ?? before?.name ?? fileName
  if (called === undefined || called.trim() === '') throw new ToolError('A note needs a "name".')
  if (body.trim() === '') {
    if (before === undefined) throw new ToolError(`There is no note "${called}" to remove.`)
    await removeNote(host, place, before.fileName)
    return { title: `Forgot ${before.name}`, output: `The note ${before.fileName} was removed.`, metadata: { fileName: before.fileName } }
  }
  if (before === undefined && notes.length >= NOTES)
    throw new ToolError(`There are ${NOTES} notes, which is the most there may be. Remove or join some first.`)
  const note: Note = {
    fileName: before?.fileName ?? fileNameOf(host, fileName ?? called),
    name: oneLine(called),
    description: oneLine(description) || (before?.description ?? ''),
    type: input.type ?? (before?.type || type),
    body,
  }
  if (Buffer.byteLength(noteText(note)) > BYTES) throw new ToolError(`A note has at most ${BYTES} bytes.`)
  await writeNote(host, place, note)
  const done = before === undefined ? 'was kept as' : 'was replaced in'
  return { title: note.name, output: `The note ${done} ${note.fileName}.`, metadata: { fileName: note.fileName } }
}

function listed(notes: readonly Note[]): ToolResult {
  const lines = notes.map(noteLine)
  return { title: `${notes.length} notes`, output: lines.join('\n') || 'There are no notes yet.', metadata: { notes: notes.length } }
}

/** One line of a list. */
export function noteLine({ fileName, name, description, type }: Note): string {
  return `- ${fileName}${type === '' ? '' : ` (${type})`}: ${[name, description].filter((text) => text !== '').join(' - ')}`
}

function recalled(notes: readonly Note[], { query = '', limit = RECALLED }: MemoryInput): ToolResult {
  const words = wordsOf(query)
  const ranked = notes
    .map((note) => ({ note, hits: words.filter((word) => textOf(note).includes(word)).length }))
    .filter(({ hits }) => words.length === 0 || hits > 0)
    .toSorted((a, b) => b.hits - a.hits)
    .slice(0, limit)
    .map(({ note }) => note)
  const texts = ranked.map((note) => `${note.fileName}\n${noteText(note)}`)
  return { title: `${ranked.length} notes`, output: texts.join('\n') || 'No note fits.', metadata: { notes: ranked.length } }
}

function searched(notes: readonly Note[], { query = '', limit = FOUND }: MemoryInput): ToolResult {
  const sought = query.trim().toLowerCase()
  if (sought === '') throw new ToolError('A search needs a "query".')
  const lines = notes.flatMap((note) =>
    noteText(note)
      .split('\n')
      .flatMap((line, index) => (line.toLowerCase().includes(sought) ? [`${note.fileName}:${index + 1}: ${cut(line, LINE, '')}`] : [])),
  )
  const shown = lines.slice(0, limit)
  const more = lines.length > shown.length ? [`(${lines.length - shown.length} more lines)`] : []
  return { title: `${lines.length} lines`, output: [...shown, ...more].join('\n') || 'No line has it.', metadata: { lines: lines.length } }
}

function textOf({ name, description, body, fileName }: Note): string {
  return `${fileName} ${name} ${description} ${body}`.toLowerCase()
}

function wordsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '')
}

function mustFind(notes: readonly Note[], input: MemoryInput): Note {
  const note = find(notes, input)
  if (note === undefined) throw new ToolError('There is no such note. The operation "list" shows those there are.')
  return note
}

/** By its file, else by its name. */
function find(notes: readonly Note[], { path, fileName = path, name }: MemoryInput): Note | undefined {
  if (fileName !== undefined) return notes.find((note) => note.fileName === fileName || note.fileName === `${fileName}.md`)
  return notes.find((note) => note.name === name || note.fileName === name)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
