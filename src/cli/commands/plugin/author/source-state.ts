/**
 * What stands in the folders an author works in: names, sizes, modes and times of all files, and where links lead. It is looked at again and again, because a watch of the
 * system loses a file once another took its place, as many editors save, and tells nothing where other machines write.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Without a change for so long, ms, the change is over. */
const QUIET = 250
const LOOK = 200
/** Of its time, looking takes at most one part in so many. */
const SHARE = 20
/** What programs fill, and nobody writes. */
const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '.git', '__pycache__'])

export function stateOf(folders: readonly string[]): string {
  return folders.flatMap(filesIn).toSorted().join('\n')
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return PASSED_OVER.has(entry.name) ? [] : filesIn(path)
      if (entry.isSymbolicLink()) return [`${path} -> ${readlinkSync(path)}`] // packages hold none: what goes with one in it is over once it is gone
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat?.isFile() === true ? [`${path} ${stat.size} ${stat.mode} ${stat.mtimeMs} ${stat.ino}`] : []
    })
  } catch {
    return [] // it is being replaced
  }
}

/** Resolves once the folders hold something else than `unlike`, and then nothing changes for a moment; or when the signal is aborted. */
export async function settledState(
  folders: readonly string[],
  { unlike, signal }: { readonly unlike: string; readonly signal: AbortSignal },
): Promise<void> {
  const look = async (pause: number) => {
    const before = performance.now()
    const state = stateOf(folders)
    const ms = Math.max(pause, SHARE * (performance.now() - before))
    await delay(ms, undefined, { signal }).catch(() => undefined)
    return state
  }
  let state = unlike
  while (state === unlike && !signal.aborted) state = await look(LOOK)
  for (let before = ''; before !== state && !signal.aborted; ) {
    before = state
    await look(QUIET)
    state = stateOf(folders)
  }
}
