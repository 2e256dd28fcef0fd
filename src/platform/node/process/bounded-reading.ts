/** What the system tells of its processes and connections, no more of it at a time than somebody wants to know. */
import { closeSync, opendirSync, openSync, readlinkSync, readSync } from 'node:fs'

/** Bytes of a table that are read together, and names of a folder. */
const PIECE = 64 * 1024
const NAMES = 256

/** Names in a folder that are meant; undefined when there are more than `most`, none where it cannot be read. */
export function namesIn(path: string, most: number, isMeant: (name: string) => boolean = () => true): readonly string[] | undefined {
  const names: string[] = []
  try {
    const folder = opendirSync(path, { bufferSize: NAMES })
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (!isMeant(entry.name)) continue
        if (names.length >= most) return undefined
        names.push(entry.name)
      }
    } finally {
      folder.closeSync()
    }
  } catch {
    return []
  }
  return names
}

/** A table piece by piece; nothing where it cannot be read. */
export function* piecesOf(path: string): Generator<string, void> {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return
  }
  try {
    const piece = Buffer.alloc(PIECE)
    for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) yield piece.toString('latin1', 0, length)
  } catch {
    // What was read of it counts.
  } finally {
    closeSync(file)
  }
}

export function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
