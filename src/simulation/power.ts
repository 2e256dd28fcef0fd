/**
 * What a loss of power leaves of a database and its write-ahead log.
 *
 * I1 Of a log, what was there when its last sync began is kept. Each later sector of 512 bytes is there or not; what is not there is zero.
 * I2 The database is written by checkpoints alone, which sync it before they return: it is kept as it is.
 * I3 A log that was begun anew has another salt. What the one before it held is in the database (I2).
 */
import { closeSync, cpSync, fstatSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from './random.js'

export interface LogExtent {
  /** The salt, as hex; empty when nothing was logged. */
  readonly salt: string
  /** Bytes up to the end of the last frame. */
  readonly bytes: number
}

const HEADER = 32
const FRAME_HEADER = 24
const SALT = { inHeader: 16, inFrame: 8, length: 8 }
const SECTOR = 512

export const NO_LOG: LogExtent = { salt: '', bytes: 0 }

export interface LogReader {
  /** How far the log reaches now. */
  extent(): LogExtent
  close(): void
}

/** Of what is read anew at once, bytes. */
const CHUNK = 64 * 1024

/** Reads a log again and again, each time what was added; `known`: an extent of it before. The file may not be there yet. */
export function createLogReader(path: string, known: LogExtent = NO_LOG): LogReader {
  const buffer = Buffer.allocUnsafe(CHUNK)
  let file: number | undefined
  let last = known

  function open(): number | undefined {
    try {
      return openSync(path, 'r')
    } catch {
      return undefined
    }
  }

  return {
    extent() {
      // Whoever closes the last handle of a database removes its log.
      if (file !== undefined && fstatSync(file).nlink === 0) this.close()
      file ??= open()
      if (file !== undefined) last = extentIn(file, last, buffer)
      return last
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** How far the log of a path reaches. */
export function extentOf(path: string, known: LogExtent = NO_LOG): LogExtent {
  const reader = createLogReader(path, known)
  try {
    return reader.extent()
  } finally {
    reader.close()
  }
}

function extentIn(file: number, known: LogExtent, buffer: Buffer): LogExtent {
  if (readSync(file, buffer, 0, HEADER, 0) < HEADER) return NO_LOG
  const salt = buffer.toString('hex', SALT.inHeader, SALT.inHeader + SALT.length)
  const frameBytes = FRAME_HEADER + buffer.readUInt32BE(8)
  const wanted = Buffer.from(salt, 'hex')
  let at = known.salt === salt ? known.bytes : HEADER
  for (;;) {
    const read = readSync(file, buffer, 0, buffer.length, at)
    let from = 0
    while (from + frameBytes <= read) {
      if (buffer.compare(wanted, 0, SALT.length, from + SALT.inFrame, from + SALT.inFrame + SALT.length) !== 0)
        return { salt, bytes: at + from }
      from += frameBytes
    }
    at += from
    if (from === 0) return { salt, bytes: at }
  }
}

/** Copies a state directory as a kill of the process leaves it: whole. */
export function copyKilled(from: string, to: string): void {
  cpSync(from, to, { recursive: true })
  for (const name of readdirSync(to)) if (name.endsWith('-shm') || name.endsWith('.lock')) rmSync(join(to, name), { force: true })
}

/** The same as a loss of power leaves it: of the log `name`, what is not `synced` is torn by `random`. */
export function copyTorn(from: string, to: string, name: string, synced: LogExtent, random: Random): void {
  copyKilled(from, to)
  const path = join(to, name)
  const log = readFileSync(path)
  const isSame = log.length >= HEADER && log.toString('hex', SALT.inHeader, SALT.inHeader + SALT.length) === synced.salt
  const kept = isSame ? synced.bytes : 0
  // Half of all losses cut the log; the others lose sectors of it.
  if (random.isOneIn(2)) return writeFileSync(path, log.subarray(0, kept + random.below(log.length - kept + 1)))
  for (let at = kept; at < log.length; at += SECTOR - (at % SECTOR)) {
    if (random.isOneIn(2)) log.fill(0, at, Math.min(log.length, at + SECTOR - (at % SECTOR)))
  }
  writeFileSync(path, log)
}
