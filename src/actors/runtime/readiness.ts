/**
 * Whether work can be taken: asked by whoever watches the server, so looked at anew once in a while at most.
 *
 * I1 That the store takes writes is tried, with a commit of no meaning: a failure that nobody repeats would never be over.
 */
import { messageOf } from '../../protocol/message-of.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Readiness } from '../../protocol/system/system.js'
import type { Effects } from '../../ports/effects.js'
import type { Store } from '../../store/store.js'

export interface ReadinessDeps {
  readonly effects: Pick<Effects, 'clock' | 'paths'> & { readonly files: Pick<Effects['files'], 'room'> }
  readonly store: Pick<Store, 'tryWrite'>
  /** Ids of packages of the installation that are not started any more. */
  givenUp(): readonly string[]
}

export function createReadiness({ effects, store, givenUp }: ReadinessDeps): () => Promise<Readiness> {
  let known: { readonly readiness: Readiness; readonly at: number } | undefined

  async function look(): Promise<Readiness> {
    const room = await effects.files.room(effects.paths.state)
    const writes = whyUnwritable(store)
    const plugins = givenUp()
    const isFull = room !== undefined && room.free < LIMITS.store.freeBytes
    return {
      ready: writes === undefined && !isFull,
      store: { ready: writes === undefined, ...(writes !== undefined && { reason: writes }) },
      disk: {
        ready: !isFull,
        ...(room !== undefined && { freeBytes: room.free }),
        ...(isFull && { reason: `fewer than ${LIMITS.store.freeBytes} bytes are free where the state lies` }),
      },
      plugins: { ready: plugins.length === 0, givenUp: [...plugins] },
    }
  }

  return async () => {
    const now = effects.clock.monotonic()
    if (known === undefined || now - known.at >= LIMITS.store.readinessAge) {
      if (known !== undefined) known = { ...known, at: now } // who asks meanwhile is told what was known
      known = { readiness: await look(), at: now }
    }
    return known.readiness
  }
}

/** Without its place: anybody may ask. */
function whyUnwritable(store: Pick<Store, 'tryWrite'>): string | undefined {
  try {
    store.tryWrite()
    return undefined
  } catch (error) {
    if (error instanceof SvcError && typeof error.details['reason'] === 'string') return error.details['reason']
    return error instanceof SvcError ? error.code : messageOf(error)
  }
}
