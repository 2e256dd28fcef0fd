/**
 * A note in the state directory that says who is using it, for other commands of this user. The lock alone decides who may use it;
 * a note left by a process that was killed is believed by nobody.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../protocol/errors.js'
import { leaveHint, removeHint } from '../store/disk/hints.js'
import { makeDirectoriesSync } from '../store/disk/make-directories.js'

/** The server of `run` has a token, which `door.ts` gives to other commands. */
export interface Presence {
  readonly pid: number
  readonly url: string
  readonly kind: 'serve' | 'run'
}

/** Folder of the state directory: a file for each process that uses the server inside another. */
const USERS = 'users'

/** Leaves the note; answers the function that takes it away. A note that cannot be written is no reason to stop. */
export function notePresence(state: string, presence: Presence): () => void {
  const path = join(state, 'server.json')
  leaveHint(path, `${JSON.stringify(presence)}\n`)
  return () => removeHint(path)
}

/** Who uses the state directory; undefined when nobody said so. */
export function readPresence(state: string): Presence | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(join(state, 'server.json'), 'utf8'))
    return isPresence(note) && isAlive(note.pid) ? note : undefined
  } catch {
    return undefined
  }
}

/** Every command looks: a schema would take longer to make than the look. */
function isPresence(value: unknown): value is Presence {
  if (typeof value !== 'object' || value === null || !('pid' in value && 'url' in value && 'kind' in value)) return false
  const { pid, url, kind } = value
  return Number.isSafeInteger(pid) && typeof url === 'string' && (kind === 'serve' || kind === 'run')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Notes that this process uses the server inside another command; answers the function that takes it away. Whoever has noted this looks
 * for the server again, and whoever hides its server looks for users again: one of the two sees the other.
 */
export function noteUse(state: string): () => void {
  const folder = join(state, USERS)
  const path = join(folder, String(process.pid))
  try {
    makeDirectoriesSync(folder, 0o700)
  } catch {
    return () => undefined
  }
  leaveHint(path, '')
  return () => removeHint(path)
}

/** Whether another command uses the server in this process. */
export function hasUsers(state: string): boolean {
  const folder = join(state, USERS)
  if (!existsSync(folder)) return false
  return readdirSync(folder).some((name) => {
    const used = isAlive(Number(name))
    if (!used) removeHint(join(folder, name))
    return used
  })
}

/** The lock of the state directory is held: says by whom, and how to go on. Other errors come back as they are. */
export function explainLock(error: unknown, state: string): unknown {
  const holder = error instanceof SvcError && error.code === 'resource.conflict' ? readPresence(state) : undefined
  if (holder === undefined) return error
  const { pid, url, kind } = holder
  const message =
    kind === 'serve'
      ? `a server at ${url} (process ${pid}) is using ${state}: stop it, or choose another state directory with SVC_AGENT_STATE_DIR`
      : `another svc command (process ${pid}) is using ${state}: wait for it to end, or choose another with SVC_AGENT_STATE_DIR`
  return new SvcError('resource.conflict', message, { pid, url, kind }, { cause: error })
}
