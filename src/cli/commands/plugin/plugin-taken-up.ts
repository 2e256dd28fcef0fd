/** Whether a server has taken up what is in the folder of a package: after an approval, and of a call that was answered. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../../published/client/client-types.js'
import type { PackageLifecycleInfo, PackageState } from '../../../protocol/plugin/plugin.js'
import { openPluginPlace, pinnedApprovalOf, readPackage } from './plugin-place.js'
import { isFailedUpdate, stateWords, troubleOf } from './state-words.js'

const SETTLED: ReadonlySet<PackageState> = new Set(['active', 'degraded', 'failed', 'disabled'])
const LOOK = 200
/** How long a package may take to start, looks. */
const LOOKS = 150

interface Awaited {
  readonly id: string
  readonly workspace: string
  /** Of the content that is to be taken up. */
  readonly revision: string
  readonly signal?: AbortSignal
}

/** Resolves with how the package is once that content serves, or has not started; undefined when neither is so in time. `tell` hears what it is meanwhile. */
export async function untilTakenUp(
  client: Client,
  { id, workspace, revision, signal }: Awaited,
  tell: (now: string) => void,
): Promise<PackageLifecycleInfo | undefined> {
  let told = ''
  for (let looks = 0; looks < LOOKS && signal?.aborted !== true; looks++) {
    const lives = (await client.plugins.lifecycle({ directory: workspace })).find((each) => each.packageId === id)
    if (lives !== undefined && hasTakenUp(lives, revision)) return lives
    const now =
      lives === undefined ? 'has not been found yet' : lives.revision === revision ? stateWords(lives) : 'is about to be read again'
    if (now !== told) tell(now)
    told = now
    await delay(LOOK)
  }
  return undefined
}

/** Pure. */
export function hasTakenUp(lives: Pick<PackageLifecycleInfo, 'revision' | 'state' | 'diagnostics'>, revision: string): boolean {
  return lives.revision === revision && (SETTLED.has(lives.state) || isFailedUpdate(lives))
}

/** What is in the folder by now, and whether that is approved; undefined where it cannot be read. */
export async function folderContent(
  id: string,
  directory: string | undefined,
): Promise<{ readonly workspace: string; readonly revision: string; readonly isAwaited: boolean } | undefined> {
  try {
    const place = await openPluginPlace(directory)
    const [found, ...others] = place.packages.filter((each) => each.id === id)
    if (found === undefined || others.length > 0) return undefined
    const read = await readPackage(place, found)
    const isAwaited = read.target.scope !== 'session' && !place.entries.isDisabled(id) && pinnedApprovalOf(place, read).ok
    return { workspace: place.workspace, revision: read.revision, isAwaited }
  } catch {
    return undefined // it says so itself where it matters
  }
}

type Lives = Pick<PackageLifecycleInfo, 'packageId' | 'state' | 'diagnostics' | 'revision' | 'retainedRevision' | 'generation'>

/** Which content answered a call; `folder` is the revision of what is in the folder by now. Pure. */
export function answeredBy(before: Lives, after: Lives | undefined, folder: string): string {
  if (after === undefined || after.generation !== before.generation) return 'answered while its content was exchanged; call it again'
  const serving = after.retainedRevision ?? after.revision
  const short = serving.slice(0, 19)
  if (serving === folder) return `answered by ${short}`
  return `answered by ${short}, not by what is in the folder: it ${troubleOf(after) ?? 'has not been taken up yet'}`
}
