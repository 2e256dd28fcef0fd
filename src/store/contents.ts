/**
 * Contents of large files that parts show or prompts attach (sessions-events §10.7): text of base64, kept once for a session and in pieces, so
 * that no commit writes megabytes at once. Rows of parts, waiting prompts and events hold a reference instead, which every reader of the store
 * finds filled in.
 *
 * I1 A reference is drawn at random and never shown, so no text can name one.
 * I2 A content is found again once it is whole; what a kill left in pieces is removed when the store is opened.
 * I3 A content belongs to one session: a part that was copied to another holds its own.
 * I4 A content stays while a part or a waiting prompt of its session refers to it, or is about to. Events that are told again after that show it empty.
 */
import type { FilePart, Part } from '../protocol/message/message.js'
import type { QueuedPrompt } from '../protocol/message/queued-prompt.js'
import type { Connection } from './disk/connection.js'
import { isOfMessage } from './part-keys.js'
import { valueOf } from './disk/stored-json.js'

/** Migration. */
export const CONTENTS_SCHEMA = `
create table contents (
  id text primary key,
  session_id text not null references sessions (id) on delete cascade,
  sha256 text not null,
  whole integer not null default 0
) strict;
create unique index contents_known on contents (session_id, sha256) where whole = 1;
create table content_pieces (
  content_id text not null references contents (id) on delete cascade,
  position integer not null,
  text text not null,
  primary key (content_id, position)
) strict;
`

export type ShownFile = Pick<FilePart, 'mime' | 'url' | 'filename'>

export interface ContentTable {
  /** The whole content of that digest, if the session has it. */
  find(sessionId: string, sha256: string): string | undefined
  /** `id`: 32 random hexadecimal digits. */
  begin(id: string, sessionId: string, sha256: string): void
  append(id: string, position: number, text: string): void
  /** Answers the id to refer to: another one when the session has got the same content meanwhile. */
  finish(id: string, sessionId: string, sha256: string): string
  /** From now on this very object is stored with a reference in place of the `length` characters at the end of its address. */
  refer(file: ShownFile, id: string, sessionId: string, length: number): void
  /** A copy of such an object is stored likewise. */
  follow(copy: object, file: object): void
  /** What was referred to has been stored, or never will be (I4). */
  release(files: readonly object[]): void
  writtenPrompt(sessionId: string, prompt: Pick<QueuedPrompt, 'parts'>): Written
}

/** What is stored of a value, and what is told of it where that differs. */
export interface Written {
  readonly json: string
  readonly whole?: () => string
}

export interface Contents {
  readonly table: ContentTable
  written(part: Part): Written
  /** Stored JSON with its contents. */
  text(json: string): string
  /** The same, parsed: of a message, or a part. What several show is read once for all that are given the same `seen`. */
  value<T>(json: string, seen?: Map<string, string>): T
  /** The same of a prompt that waits in a session. */
  prompt(sessionId: string, json: string): QueuedPrompt
  /** Forgets what no part of the session refers to any more (I4). */
  sweep(sessionId: string): void
}

interface Reference {
  readonly id: string
  readonly sessionId: string
  /** Of the address, where the content begins. */
  readonly from: number
}

/** What refers to contents. */
interface Known {
  /** By the object that shows one. */
  readonly references: WeakMap<object, Reference>
  /** I4: what no part refers to yet. */
  readonly coming: Set<string>
  contentOf(id: string): string
}

/** An address that ends with a reference. */
const LONGEST = 300
const PREFIX = 'svc:content:'
const MARK = /svc:content:([0-9a-f]{32});$/
/** Inside of JSON, where text has its quotes escaped. */
const ADDRESS = /("url":"data:[^",]{1,200},)svc:content:([0-9a-f]{32});(?=")/g

export function createContents(connection: Connection): Contents {
  const find = connection.query<[string, string], { id: string }>(
    'select id from contents where session_id = ? and sha256 = ? and whole = 1',
  )
  const begin = connection.query<[string, string, string]>('insert into contents (id, session_id, sha256) values (?, ?, ?)')
  const append = connection.query<[string, number, string]>('insert into content_pieces (content_id, position, text) values (?, ?, ?)')
  const finish = connection.query<[string]>('update contents set whole = 1 where id = ?')
  const pieces = connection.query<[string], { text: string }>('select text from content_pieces where content_id = ? order by position')
  const remove = connection.query<[string]>('delete from contents where id = ?')
  const some = connection.query<[string], { id: string }>('select id from contents where session_id = ? limit 1')
  const sweep = connection.query<[string, string]>(`
    delete from contents where session_id = ? and id not in (select value from json_each(?)) and not exists (
      select 1 from messages join parts on ${isOfMessage('messages.key')}
      where messages.session_id = contents.session_id and instr(parts.json, contents.id) > 0) and not exists (
      select 1 from queue where queue.session_id = contents.session_id and instr(queue.request, contents.id) > 0)`)

  const known: Known = {
    references: new WeakMap(),
    coming: new Set(),
    contentOf: (id) =>
      pieces
        .all(id)
        .map(({ text }) => text)
        .join(''),
  }
  const { references, coming } = known
  const filled = (text: string) => text.replaceAll(ADDRESS, (_mark, start: string, id: string) => start + known.contentOf(id))

  return {
    table: {
      find(sessionId, sha256) {
        const found = find.get(sessionId, sha256)?.id
        if (found !== undefined) coming.add(found)
        return found
      },
      begin(id, sessionId, sha256) {
        begin.run(id, sessionId, sha256)
        coming.add(id)
      },
      append: (id, position, text) => void append.run(id, position, text),
      finish(id, sessionId, sha256) {
        const found = this.find(sessionId, sha256)
        if (found === undefined) {
          finish.run(id)
          return id
        }
        coming.delete(id)
        remove.run(id)
        return found
      },
      refer: (file, id, sessionId, length) => void references.set(file, { id, sessionId, from: file.url.length - length }),
      follow(copy, file) {
        const reference = references.get(file)
        if (reference !== undefined) references.set(copy, reference)
      },
      release(files) {
        for (const file of files) coming.delete(references.get(file)?.id ?? '')
      },
      writtenPrompt: (sessionId, prompt) =>
        written(
          known,
          { value: prompt, sessionId },
          prompt.parts.filter((part) => part.type === 'file'),
          (files) => {
            const next = files.values()
            return { ...prompt, parts: prompt.parts.map((part) => (part.type === 'file' ? next.next().value : part)) }
          },
        ),
    },
    written: (part) => written(known, { value: part, sessionId: part.sessionId }, filesOf(part), (files) => withFiles(part, files)),
    text: (json) => (json.includes(PREFIX) ? filled(json) : json),
    value<T>(json: string, seen = new Map<string, string>()): T {
      const value = valueOf<T>(json)
      if (json.includes(PREFIX))
        for (const part of partsOf(value)) for (const file of filesOf(part)) fill(known, file, part.sessionId, seen)
      return value
    },
    prompt(sessionId, json) {
      const value = valueOf<QueuedPrompt>(json)
      const seen = new Map<string, string>()
      if (json.includes(PREFIX)) for (const part of value.parts) if (part.type === 'file') fill(known, part, sessionId, seen)
      return value
    },
    sweep(sessionId) {
      if (some.get(sessionId) !== undefined) sweep.run(sessionId, JSON.stringify([...coming]))
    },
  }
}

function written(
  { references, coming }: Known,
  { value, sessionId }: { readonly value: unknown; readonly sessionId: string },
  files: readonly ShownFile[],
  rebuild: (files: readonly ShownFile[]) => unknown,
): Written {
  const contents = new Map<string, string>()
  const cut = files.map((file) => {
    const reference = references.get(file)
    if (reference?.sessionId !== sessionId) return file // I3
    coming.delete(reference.id)
    contents.set(reference.id, file.url.slice(reference.from))
    return { ...file, url: `${file.url.slice(0, reference.from)}${PREFIX}${reference.id};` }
  })
  if (contents.size === 0) return { json: JSON.stringify(value) }
  const json = JSON.stringify(rebuild(cut))
  return { json, whole: () => json.replaceAll(ADDRESS, (_mark, start: string, id: string) => start + (contents.get(id) ?? '')) }
}

/** In place: the value was parsed just now. Contents that were `seen` are not read again. */
function fill({ references, contentOf }: Known, file: { url: string }, sessionId: string, seen: Map<string, string>): void {
  const [mark, id] = file.url.startsWith('data:') && file.url.length < LONGEST ? (MARK.exec(file.url) ?? []) : []
  if (mark === undefined || id === undefined) return
  const from = file.url.length - mark.length
  const content = seen.get(id) ?? contentOf(id)
  seen.set(id, content)
  file.url = file.url.slice(0, from) + content
  references.set(file, { id, sessionId, from })
}

/** What a kill left in pieces (I2). */
export function removeTornContents(connection: Connection, transact: (change: () => void) => void): void {
  const torn = connection.query<[], { id: string }>('select id from contents where whole = 0')
  const remove = connection.query<[]>('delete from contents where whole = 0')
  if (torn.get() !== undefined) transact(() => void remove.run())
}

/** The file that a part is, or the files that a settled tool call shows. */
function filesOf(part: Part): readonly ShownFile[] {
  if (part.type === 'file') return [part]
  if (part.type !== 'tool' || part.state.status !== 'completed') return []
  const { metadata } = part.state
  if (typeof metadata !== 'object' || metadata === null || !('attachments' in metadata)) return []
  return Array.isArray(metadata.attachments) ? metadata.attachments.filter(isFile) : []
}

function isFile(value: unknown): value is ShownFile {
  return typeof value === 'object' && value !== null && 'url' in value && typeof value.url === 'string'
}

function withFiles(part: Part, files: readonly ShownFile[]): unknown {
  if (part.type === 'file') return files[0]
  if (part.type !== 'tool' || part.state.status !== 'completed') return part
  return { ...part, state: { ...part.state, metadata: { ...(part.state.metadata as object), attachments: files } } }
}

/** Of a message, or the part itself. */
function partsOf(value: unknown): readonly Part[] {
  return (value as { parts?: readonly Part[] }).parts ?? [value as Part]
}
