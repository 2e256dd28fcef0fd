/**
 * Vectors of what was said, beside the words of the index (subsystems i): of one model at a time, by the extension `sqlite-vec`.
 *
 * I1 What has to be given a vector, and whose vector is to be removed, is noted with the message, by triggers of the file: also while the extension is not there.
 * I2 Vectors of another model, or of another length, are never compared: all are forgotten, and everything is to be given one anew.
 */
import { createRequire } from 'node:module'
import type { Database as Handle } from 'better-sqlite3'
import type * as SqliteVec from 'sqlite-vec'
import { LIMITS } from '../../protocol/limits.js'
import type { Found, Unembedded } from '../found.js'

/** Part of the schema of the file. */
export const VECTOR_SCHEMA = `
create table vector_model (model text not null, dimensions integer not null) strict;
create table unembedded (key integer primary key) strict;
create table unwanted_vectors (key integer primary key) strict;
create trigger docs_said after insert on docs begin insert or ignore into unembedded (key) values (new.key); end;
create trigger docs_gone after delete on docs begin
  delete from unembedded where key = old.key;
  insert or ignore into unwanted_vectors (key) values (old.key);
end;
`

const { nearest, farthest, dimensions: MOST, swept } = LIMITS.embeddings

export interface Vectors {
  /** Messages without a vector, the newest first. */
  pending(limit: number): Unembedded[]
  put(entries: readonly { readonly key: number; readonly vector: Float32Array }[]): void
  /** Messages that mean what the vector does, the nearest first. */
  near(vector: Float32Array, limit: number, sessions?: readonly string[]): Found[]
}

/** Throws where the extension cannot be loaded. */
export function openVectors(handle: Handle, model: string): Vectors {
  load(handle)
  const stored = handle.prepare<[], { model: string; dimensions: number }>('select model, dimensions from vector_model')
  const pending = handle.prepare<[number, number], Unembedded>(
    `select key, substr(text, 1, ?) as text from unembedded join docs using (key) order by key desc limit ?`,
  )
  const known = stored.get()
  let dimensions = known?.model === model ? known.dimensions : 0
  if (known !== undefined && dimensions === 0) handle.transaction(forget)()

  function forget(): void {
    dimensions = 0
    handle.exec(`drop table if exists vectors; delete from vector_model; delete from unwanted_vectors;
      delete from unembedded; insert into unembedded (key) select key from docs;`)
  }

  function begin(length: number): void {
    forget()
    dimensions = length
    handle.exec(`create virtual table vectors using vec0(said float[${length}] distance_metric=cosine)`)
    handle.prepare('insert into vector_model (model, dimensions) values (?, ?)').run(model, length)
  }

  function sweep(): void {
    const keys = handle.prepare<[number], { key: number }>('select key from unwanted_vectors limit ?').all(swept)
    const unwanted = handle.prepare('delete from vectors where rowid = ?')
    const noted = handle.prepare('delete from unwanted_vectors where key = ?')
    for (const { key } of keys) {
      unwanted.run(BigInt(key))
      noted.run(key)
    }
  }

  const put = handle.transaction((entries: Parameters<Vectors['put']>[0]) => {
    const length = entries[0]?.vector.length ?? 0
    if (length === 0 || length > MOST || entries.some(({ vector }) => vector.length !== length))
      throw new Error(`vectors of 1 to ${MOST} numbers, all of one length, are expected`)
    if (length !== dimensions) begin(length) // I2
    const waits = handle.prepare<[number], { key: number }>('delete from unembedded where key = ? returning key')
    const add = handle.prepare('insert or replace into vectors (rowid, said) values (?, ?)')
    for (const { key, vector } of entries) if (waits.get(key) !== undefined) add.run(BigInt(key), bytesOf(vector))
    sweep()
  })

  return {
    pending: (limit) => pending.all(LIMITS.embeddings.text, limit),
    put,
    near(vector, limit, sessions) {
      if (dimensions === 0 || vector.length !== dimensions) return []
      const within = sessions === undefined ? '' : 'and docs.session_id in (select value from json_each(?))'
      const found = handle.prepare<unknown[], Found>(`select message_id as messageId, session_id as sessionId, role, created, text
        from (select rowid as key, distance from vectors where said match ? and k = ${nearest}) join docs using (key)
        where distance <= ${farthest} ${within} order by distance limit ?`)
      const scope = sessions === undefined ? [] : [JSON.stringify(sessions)]
      return found.all(bytesOf(vector), ...scope, limit)
    },
  }
}

function load(handle: Handle): void {
  const { getLoadablePath } = createRequire(import.meta.url)('sqlite-vec') as typeof SqliteVec
  handle.loadExtension(getLoadablePath())
}

function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
}

/** Both lists as one, by reciprocal rank fusion: what stands high in either comes first. */
export function fused(lists: readonly (readonly Found[])[], limit: number): Found[] {
  const scores = new Map<string, { readonly found: Found; score: number }>()
  for (const list of lists)
    for (const [rank, found] of list.entries()) {
      const entry = scores.get(found.messageId) ?? { found, score: 0 }
      entry.score += 1 / (60 + rank)
      scores.set(found.messageId, entry)
    }
  return [...scores.values()]
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ found }) => found)
}
