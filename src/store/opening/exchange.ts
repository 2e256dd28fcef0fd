/**
 * Puts new contents in the place of old ones, in directories that may be mount points. Only who holds the lock of the state directory may.
 *
 * I1 A note on the disk says what goes where before the first name moves, so that whoever opens the state after a kill brings it to an end:
 *    there is never a mixture, and never nothing.
 * I2 First everything old goes aside, then the note says so, then everything new comes; each move is done once or found done.
 * I3 Nothing old is removed.
 */
import { closeSync, existsSync, fsyncSync, lstatSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { isRecord } from '../../protocol/text/json.js'
import { makeDirectoriesSync } from '../disk/make-directories.js'

/** Where what comes is laid out, in each directory. */
export const INCOMING = '.restoring'
const NOTE = 'restore.json'

export interface Place {
  readonly directory: string
  /** Folder in it that takes what was there. */
  readonly aside: string
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

interface Note {
  readonly phase: 'aside' | 'over'
  readonly places: readonly Place[]
}

/** Exchanges the contents of all places; the first is the state directory. */
export function exchange(state: string, places: readonly Place[]): void {
  for (const { directory, old } of places) refuseMounts(directory, old)
  writeNote(state, { phase: 'aside', places }) // I1
  finishExchange(state)
}

/** Brings an exchange to an end that was begun, and removes what one left that was not. Throws `store.unavailable` for a note that cannot be read. */
export function finishExchange(state: string): void {
  const note = readNote(state)
  if (note !== undefined) {
    if (note.phase === 'aside') {
      for (const place of note.places) setAside(place)
      writeNote(state, { ...note, phase: 'over' }) // I2
    }
    for (const place of note.places) takeOver(place)
    rmSync(join(state, NOTE))
    syncNames(state)
  }
  for (const directory of [state, ...(note?.places ?? []).map((place) => place.directory)])
    rmSync(join(directory, INCOMING), { recursive: true, force: true })
}

function setAside({ directory, aside, old }: Place): void {
  if (old.length === 0) return
  makeDirectoriesSync(join(directory, aside), 0o700)
  move(old, directory, join(directory, aside))
}

function takeOver({ directory, fresh }: Place): void {
  move(fresh, join(directory, INCOMING), directory)
}

function move(names: readonly string[], from: string, to: string): void {
  for (const name of names) if (isThere(join(from, name))) renameSync(join(from, name), join(to, name))
  syncNames(to)
  if (existsSync(from)) syncNames(from)
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** What is mounted in a directory cannot be moved in it. */
function refuseMounts(directory: string, names: readonly string[]): void {
  const device = lstatSync(directory).dev
  const mounted = names.find((name) => lstatSync(join(directory, name), { throwIfNoEntry: false })?.dev !== device)
  if (mounted === undefined) return
  throw new SvcError(
    'store.unavailable',
    `${join(directory, mounted)} lies on a disk of its own and cannot be set aside: restore to another directory.`,
  )
}

function readNote(state: string): Note | undefined {
  const path = join(state, NOTE)
  if (!existsSync(path)) return undefined
  try {
    return noteOf(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new SvcError(
      'store.unavailable',
      `A restore was under way, and its note ${path} cannot be read. Nothing was changed.`,
      { path },
      { cause },
    )
  }
}

function noteOf(value: unknown): Note {
  const { phase, places } = recordOf(value)
  if ((phase !== 'aside' && phase !== 'over') || !Array.isArray(places)) throw new Error('it is no note of a restore')
  return { phase, places: places.map(placeOf) }
}

function placeOf(value: unknown): Place {
  const { directory, aside, old, fresh } = recordOf(value)
  if (typeof directory !== 'string' || typeof aside !== 'string') throw new Error('it names no place')
  return { directory, aside, old: namesOf(old), fresh: namesOf(fresh) }
}

function namesOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value
  throw new Error('it names no files')
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value
  throw new Error('it is no record')
}

function writeNote(state: string, note: Note): void {
  const path = join(state, NOTE)
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(file, JSON.stringify(note))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
  syncNames(state)
}

function syncNames(directory: string): void {
  const folder = openSync(directory, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
