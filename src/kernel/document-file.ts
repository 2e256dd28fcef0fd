/**
 * A file for its owner alone that holds one JSON document: who is signed in, and where.
 *
 * I1 The file is the truth: it is read again when it is another one.
 * I2 Changes are made one after another, also of other processes where there is a lock; the file is old or new as a whole after any kill.
 * I3 A file that is no such document is never written over.
 * I4 Nothing of it is in any message.
 * I5 It never grows beyond what is read of it.
 */
import { createLane } from './lane.js'

export interface DocumentFile<Document> {
  /** Undefined = the file is no such document. */
  read(): Promise<Document | undefined>
  /** Changes what is stored and answers what `change` answers beside it; an unchanged document is not written. Throws `malformed()`. */
  change<T>(change: Change<Document, T>): Promise<T>
}

export type Change<Document, T> = (before: Document) => Promise<readonly [Document, T]> | readonly [Document, T]

export interface DocumentFormat<Document> {
  readonly empty: Document
  /** Of a JSON value; undefined, or an error, when it is none. */
  readonly parse: (value: unknown) => Document | undefined
}

interface DocumentFileOptions<Document> extends DocumentFormat<Document> {
  readonly files: {
    stat(path: string): Promise<{ readonly identity: string } | undefined>
    read(path: string, most: number): Promise<Uint8Array>
    writeAtomic(path: string, text: string, options: { readonly mode: number }): Promise<void>
  }
  readonly path: string
  /** Bytes of it. */
  readonly most: number
  /** What is thrown at whoever would make it larger than that. */
  readonly full: () => Error
  readonly write: (document: Document) => string
  /** Others change it as well, under the same lock: takes it, and answers how it is let go of. Without it nobody else does. */
  readonly lock?: () => Promise<() => void>
  /** It was read, and is no such document: said once for each content. */
  readonly onMalformed: () => void
  /** What is thrown at whoever would change such a file. */
  readonly malformed: () => Error
}

/** Changes that are made or wait for their turn. */
const CHANGES = 1024

export function createDocumentFile<Document>(options: DocumentFileOptions<Document>): DocumentFile<Document> {
  const { files, path, lock } = options
  const lane = createLane({ most: CHANGES })
  let known: { readonly identity: string | undefined; readonly document: Document | undefined } | undefined

  async function load(): Promise<Document | undefined> {
    const identity = (await files.stat(path))?.identity
    if (known !== undefined && known.identity === identity) return known.document
    const document = identity === undefined ? options.empty : documentIn(await files.read(path, options.most), options)
    if (document === undefined) options.onMalformed()
    known = { identity, document }
    return document
  }

  async function changeNow<T>(change: Change<Document, T>): Promise<T> {
    const before = await load()
    if (before === undefined) throw options.malformed()
    const [after, answer] = await change(before)
    if (after !== before) {
      const text = options.write(after)
      if (new TextEncoder().encode(text).length > options.most) throw options.full() // I5
      await files.writeAtomic(path, text, { mode: 0o600 })
      known = undefined
    }
    return answer
  }

  async function changeLocked<T>(take: () => Promise<() => void>, change: Change<Document, T>): Promise<T> {
    const release = await take()
    try {
      known = undefined
      return await changeNow(change)
    } finally {
      release()
    }
  }

  return {
    read: load,
    change: (change) => (lock === undefined ? lane.run(() => changeNow(change)) : changeLocked(lock, change)),
  }
}

/** The document in a text; undefined when it is none. */
export function documentIn<Document>(bytes: Uint8Array, { empty, parse }: DocumentFormat<Document>): Document | undefined {
  const text = new TextDecoder().decode(bytes)
  if (text.trim() === '') return empty
  try {
    return parse(JSON.parse(text))
  } catch {
    return undefined // I4
  }
}
