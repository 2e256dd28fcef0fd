/**
 * Who besides us decides what is read at a path (threat-model W3), told as a secure shell server would: from the root of the
 * file system down, through every link, with no name taken on trust.
 *
 * I1 We and the administrator are trusted, and nobody else. I2 A group is trusted when it is private: its number is the
 * number of its owner and, for us, our primary one; so files made under umask 002 stay ours. I3 In a sticky directory
 * others may add names, never replace ours: the owner of each name in it is judged by itself.
 */
import { lstatSync, readlinkSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import type { Exposed, Exposure } from '../../../ports/effects.js'

interface Ownership {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

const STICKY = 0o1000
const BY_GROUP = 0o020
const BY_EVERYBODY = 0o002
/** As many links as Linux follows. */
const MAX_LINKS = 40
const SUPERUSER = 0

/** Of one file or directory by itself; undefined = only we and the administrator can write it, or files have no owner here. */
export function exposureOf({ uid, gid, mode }: Ownership): Exposure | undefined {
  const self = process.geteuid?.()
  if (self === undefined) return undefined
  if (uid !== self && uid !== SUPERUSER) return 'belongs to another user' // I1
  if ((mode & BY_EVERYBODY) !== 0) return 'can be written by everybody'
  if ((mode & BY_GROUP) !== 0 && !isPrivate(uid, gid)) return 'can be written by a group'
  return undefined
}

/** See `Files.exposure`. */
export function findExposure(path: string): Exposed | undefined {
  let at = '/'
  let links = 0
  const ahead = path.split('/').toReversed()
  for (;;) {
    const name = ahead.pop()
    if (name === undefined) return undefined
    if (name === '..') at = dirname(at)
    const next = name === '..' ? at : join(at, name)
    const stat = lstatSync(next, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    if (stat.isSymbolicLink()) {
      if (exposureOf({ uid: stat.uid, gid: stat.gid, mode: 0 }) !== undefined) return { path: next, how: 'belongs to another user' }
      if (++links > MAX_LINKS) return undefined // it cannot be read either
      const target = readlinkSync(next)
      if (target.startsWith('/')) at = '/'
      ahead.push(...target.split('/').toReversed())
      continue
    }
    const how = exposureOf(stat)
    const isShared = stat.isDirectory() && (stat.mode & STICKY) !== 0 && how !== 'belongs to another user' // I3
    if (how !== undefined && !isShared) return { path: next, how }
    at = next
  }
}

/** I2. */
function isPrivate(uid: number, gid: number): boolean {
  return gid === uid && (uid === SUPERUSER || gid === primaryGroup())
}

let known: number | undefined
function primaryGroup(): number | undefined {
  try {
    return (known ??= userInfo().gid)
  } catch {
    return (known ??= process.getegid?.()) // a user without an entry, as in containers
  }
}
