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

/** How far a log reaches now; `known`: an extent of it before, from which on it is read. */
export function extentOf(path: string, known: LogExtent = NO_LOG): LogExtent {
  const fd = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER)
    if (readSync(fd, header, 0, HEADER, 0) < HEADER) return NO_LOG
    const salt = header.toString('hex', SALT.inHeader, SALT.inHeader + SALT.length)
    const frameBytes = FRAME_HEADER + header.readUInt32BE(8)
    const { size } = fstatSync(fd)
    const frame = Buffer.alloc(FRAME_HEADER)
    let at = known.salt === salt ? known.bytes : HEADER
    while (at + frameBytes <= size) {
      readSync(fd, frame, 0, FRAME_HEADER, at)
      if (frame.toString('hex', SALT.inFrame, SALT.inFrame + SALT.length) !== salt) break
      at += frameBytes
    }
    return { salt, bytes: at }
  } finally {
    closeSync(fd)
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
