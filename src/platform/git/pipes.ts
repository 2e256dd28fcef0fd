/**
 * Files of a worktree that git opens by their names, in every directory, and at which it waits where one is a pipe (threat-model X1, V1). Those of
 * the top are looked at before git is started, all others once it takes long: a look at every directory costs as much as git itself.
 */
import { join } from 'node:path'
import { createAlarm } from '../../kernel/alarm.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../../ports/effects.js'
import { kindOf } from './unlinked.js'

type Files = Pick<Effects['files'], 'stat' | 'readDirectory'>

const NAMES: ReadonlySet<string> = new Set(['.gitignore', '.gitattributes', '.gitmodules'])

/** Rejects with a sentence when one of them at the top of a worktree is no file. */
export async function refusePipes(files: Files, worktree: string): Promise<void> {
  for (const path of [...NAMES].map((name) => join(worktree, name))) {
    const stat = await files.stat(path)
    if (stat?.kind === 'other') throw new Error(`${path} is ${kindOf(stat)}`)
  }
}

interface LateLook {
  /** Aborted with a sentence once one is found. */
  readonly signal: AbortSignal
  /** Git has ended. */
  end(): void
}

/** Looks through the worktree once git has run for `LIMITS.vcs.gitLate`. */
export function lookLate({ files, clock }: { readonly files: Files; readonly clock: Effects['clock'] }, worktree: string): LateLook {
  const found = new AbortController()
  const over = new AbortController()

  async function look(): Promise<void> {
    const path = await firstBelow(files, worktree, over.signal)
    if (path !== undefined)
      found.abort(new SvcError('request.unprocessable', `Git waits at ${path}, which is ${kindOf({ kind: 'other' })}.`))
  }

  const alarm = createAlarm(clock, () => void look())
  alarm.set(LIMITS.vcs.gitLate)
  return {
    signal: found.signal,
    end() {
      over.abort()
      alarm.end()
    },
  }
}

async function firstBelow(files: Files, worktree: string, signal: AbortSignal): Promise<string | undefined> {
  const open = [worktree]
  for (const at of open) {
    if (signal.aborted) return undefined
    const entries = await files.readDirectory(at).catch(() => [])
    const odd = entries.find(({ name, kind }) => kind === 'other' && NAMES.has(name))
    if (odd !== undefined) return join(at, odd.name)
    const directories = entries.filter(({ name, kind }) => kind === 'directory' && name !== '.git').map(({ name }) => join(at, name))
    open.push(...directories.slice(0, Math.max(0, LIMITS.vcs.lateDirectories - open.length)))
  }
  return undefined
}
