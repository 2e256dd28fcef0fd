/** Whether a server has taken up what is in the folder of a package: after an approval, and of a call that was answered. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../../published/client/client-types.js'
import type { PackageLifecycleInfo, PackageState } from '../../../protocol/plugin/plugin.js'
import { openPluginPlace, pinnedApprovalOf, readPackage } from './plugin-place.js'
import { isFailedUpdate, stateWords, troubleOf } from './state-words.js'

const SETTLED: ReadonlySet<PackageState> = new Set(['active', 'degraded', 'failed', 'disabled'])
/** Events of the server tell; where none come, it is asked so often, ms. */
const LOOK = 2000
/** How long a package may take to start, ms. */
const PATIENCE = 30_000

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
  const over = AbortSignal.any([AbortSignal.timeout(PATIENCE), ...(signal === undefined ? [] : [signal])])
  const enough = new AbortController()
  const bell = createBell()
  const listening = listen(client, id, AbortSignal.any([over, enough.signal]), bell.ring)
  let told = ''
  try {
    while (!over.aborted) {
      const rung = bell.next()
      const lives = (await client.plugins.lifecycle({ directory: workspace })).find((each) => each.packageId === id)
      if (lives !== undefined && hasTakenUp(lives, revision)) return lives
      const now =
        lives === undefined ? 'has not been found yet' : lives.revision === revision ? stateWords(lives) : 'is about to be read again'
      if (now !== told) tell(now)
      told = now
      await Promise.race([rung, delay(LOOK, undefined, { signal: over }).catch(() => undefined)])
    }
    return undefined
  } finally {
    enough.abort()
    await listening
  }
}

/** Whenever a server may know more of a package. Never rejects: who listens looks by itself, too. */
async function listen(client: Client, id: string, signal: AbortSignal, ring: () => void): Promise<void> {
  try {
    for await (const event of client.events({ tail: true, signal }))
      if (event.type === 'gap' || (event.type === 'package.updated' && event.data.info.packageId === id)) ring()
  } catch {
    return // it may not be heard by everybody
  }
}

function createBell(): { ring(): void; next(): Promise<void> } {
  let ring: () => void = () => undefined
  let next = new Promise<void>((resolve) => (ring = resolve))
  return {
    ring() {
      ring()
      next = new Promise((resolve) => (ring = resolve))
    },
    next: () => next,
  }
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
  const exchanged = 'answered while its content was exchanged; call it again'
  if (after === undefined) return exchanged
  const serving = after.retainedRevision ?? after.revision
  if (after.generation !== before.generation)
    return serving === (before.retainedRevision ?? before.revision)
      ? 'its content is the same as before the call, and was started anew meanwhile: its program may have ended (svc logs)'
      : exchanged
  const short = serving.slice(0, 19)
  if (serving === folder) return `answered by ${short}`
  return `answered by ${short}, not by what is in the folder: it ${troubleOf(after) ?? 'has not been taken up yet'}`
}
