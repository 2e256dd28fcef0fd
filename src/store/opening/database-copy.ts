/**
 * A copy of the database beside a server that writes it, or of one that rests.
 *
 * I1 The copy is of one moment: a read transaction holds it while pages are copied, a few at a time, so that the disk serves others between.
 * I2 What is copied was made by a svc that this one understands, and is sound.
 */
import type { Database as Handle } from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'
import { Database } from '../disk/driver.js'
import { storeFault } from '../disk/faults.js'
import { assertKnownSchema, schemaOf } from './migrations.js'

/** Of 4 KiB. */
const PAGES = 512
/** Between them, ms. */
const PAUSE = 2
const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

interface Counted {
  readonly schema: number
  readonly sessions: number
  readonly messages: number
  readonly events: number
  readonly artifacts: number
}

/** Throws `store.unavailable` when it cannot be read or written, or is of a newer svc (I2). */
export async function copyDatabase(from: string, to: string): Promise<void> {
  try {
    const source = new Database(from, { readonly: true, fileMustExist: true, timeout: 5000 })
    try {
      assertKnownSchema(source)
      source.exec('begin')
      source.prepare('select count(*) from sqlite_schema').get() // I1
      await source.backup(to, {
        progress() {
          Atomics.wait(nobody, 0, 0, PAUSE)
          return PAGES
        },
      })
    } finally {
      source.close()
    }
  } catch (error) {
    throw storeFault(error)
  }
}

export interface Copy {
  counts(): Counted
  /** Ids and digests of what was uploaded. */
  artifacts(): readonly { readonly id: string; readonly sha256: string }[]
  forgetArtifacts(ids: readonly string[]): void
  close(): void
}

/** A database that nobody else uses. Throws `store.unavailable` when it is damaged, or of a newer svc. */
export function openCopy(path: string): Copy {
  try {
    const database = new Database(path, { fileMustExist: true })
    try {
      assertKnownSchema(database)
      database.exec('pragma journal_mode = delete')
      refuseDamaged(database)
    } catch (error) {
      database.close()
      throw error
    }
    return copyOf(database)
  } catch (error) {
    throw storeFault(error)
  }
}

function copyOf(database: Handle): Copy {
  const count = (table: string) => Number(database.prepare(`select count(*) from ${table}`).pluck().get())
  return {
    counts: () => ({
      schema: schemaOf(database),
      sessions: count('sessions'),
      messages: count('messages'),
      events: count('events'),
      artifacts: count('artifacts'),
    }),
    artifacts: () =>
      database.prepare<[], { id: string; sha256: string }>(`select id, json ->> '$.sha256' as sha256 from artifacts order by id`).all(),
    forgetArtifacts(ids) {
      const forget = database.prepare('delete from artifacts where id = ?')
      database.transaction(() => ids.forEach((id) => forget.run(id)))()
    },
    close: () => void database.close(),
  }
}

function refuseDamaged(database: Handle): void {
  const findings = String(database.pragma('quick_check(1)', { simple: true }))
  if (findings === 'ok') return
  throw new SvcError('store.unavailable', `The database ${database.name} is damaged: ${findings}.`, { path: database.name, findings })
}
