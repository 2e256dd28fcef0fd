/**
 * A note in the state directory that says who is using it, for the people whose command meets the lock. The lock alone decides;
 * a note left by a process that was killed is never read without it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { SvcError } from '../protocol/errors.js'

export const Presence = z.object({ pid: z.number().int(), url: z.string(), kind: z.enum(['serve', 'run']) })
export type Presence = z.infer<typeof Presence>

/** Leaves the note; answers the function that takes it away. A note that cannot be written is no reason to stop. */
export function notePresence(state: string, presence: Presence): () => void {
  const path = join(state, 'server.json')
  try {
    writeFileSync(path, `${JSON.stringify(presence)}\n`, { mode: 0o600 })
  } catch {
    return () => undefined
  }
  return () => rmSync(path, { force: true })
}

/** Who uses the state directory; undefined when nobody said so. */
export function readPresence(state: string): Presence | undefined {
  try {
    const result = Presence.safeParse(JSON.parse(readFileSync(join(state, 'server.json'), 'utf8')))
    return result.success && isAlive(result.data.pid) ? result.data : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * The lock of the state directory is held: says by whom, and how to go on. `start` wants to be the server, `use` only needs one.
 * Other errors come back as they are.
 */
export function explainLock(error: unknown, state: string, purpose: 'start' | 'use'): unknown {
  const holder = error instanceof SvcError && error.code === 'resource.conflict' ? readPresence(state) : undefined
  if (holder === undefined) return error
  const advice = purpose === 'use' && holder.kind === 'serve' ? `use it with --server ${holder.url}` : adviceFor(holder)
  const who = holder.kind === 'serve' ? `a server at ${holder.url}` : 'another "svc run"'
  return new SvcError('resource.conflict', `${who} (process ${holder.pid}) is using ${state}: ${advice}`, { ...holder }, { cause: error })
}

function adviceFor({ kind }: Presence): string {
  return kind === 'serve'
    ? 'stop it, or choose another state directory with SVC_AGENT_STATE_DIR'
    : 'wait for it to end; to run several at once, start "svc serve" and use --server'
}
