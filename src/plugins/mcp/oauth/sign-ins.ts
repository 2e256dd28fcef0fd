/**
 * Signing in to servers (subsystems f.5; threat-model N3).
 *
 * I1 An attempt is known by a state of 32 random bytes, bound to server, address and redirect, good once and for a while.
 * I2 Requests about it are guarded, bounded in time and size, and nothing secret is in any message.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { machineOf } from '../../../protocol/mcp/mcp-config.js'
import type { Authorization } from '../link/session.js'
import { createAttempts, type Taken } from './attempts.js'
import type { ServerCredentials } from './credentials.js'
import { exchangeCode, offerSignIn, type Returned, withoutAttempt } from './exchange.js'
import { createMachines } from './machines.js'
import { fetchFor, keyOf, loadLibrary, oauthOf, type SignInDeps, type SignInNotes, type SignInPlace } from './place.js'
import { authorizationOf, type Renewals } from './renewal.js'
import { revokeTokens } from './revocation.js'

export interface SignIns {
  hasCredentials(server: string, url: string): Promise<boolean>
  /** What the connection of a server is given. */
  authorization(place: SignInPlace): Authorization
  /** It was found that a server registers nobody, and no client is configured. */
  isUnregistered(server: string): boolean
  /** Begins an attempt, in the place of one that was under way. Throws `request.unprocessable`. */
  start(place: SignInPlace, directory: string): Promise<{ readonly authorizationUrl: string; readonly oauthState: string }>
  /** Where an attempt with this state was begun, be it before a restart. */
  directoryOf(server: string, state: string): Promise<string | undefined>
  /** Takes the attempt that is under way, of this state when one is given; it is over then. Undefined = there is none. */
  take(place: SignInPlace, state: string | undefined): Promise<TakenAttempt | undefined>
  /** Forgets everything about a server, and ends its tokens where they are from. */
  remove(place: SignInPlace): Promise<void>
  /** Nobody's answer is waited for any more. */
  stop(): void
}

/** One of them is called, once. */
interface TakenAttempt {
  /** Exchanges the code. Throws `request.unprocessable`. */
  finish(returned: Returned): Promise<void>
  /** The authorization server let nobody in. */
  refuse(reason: string): void
}

const STATE_BYTES = 32

export function createSignIns(deps: SignInDeps & { readonly actors: NativeHost['actors'] }): SignIns {
  const { effects, credentials } = deps
  const notes: SignInNotes = { challenges: new Map(), unregistered: new Set() }
  const renewals: Renewals = { deps, notes, renewing: new Map() }
  const machines = createMachines(effects, loadLibrary)
  const attempts = createAttempts(deps)
  const attemptOf = (place: SignInPlace) => ({ server: place.server, key: keyOf(place) })
  return {
    hasCredentials: async (server, url) => (await credentials.get(server, url))?.tokens !== undefined,
    isUnregistered: (server) => notes.unregistered.has(server),
    authorization(place) {
      const client = machineOf(place.config)
      if (client === undefined) return authorizationOf(renewals, place)
      return machines.authorization({ server: place.server, url: place.config.url, client, fetch: fetchFor(deps, place) })
    },
    async start(place, directory) {
      const state = base64Url(effects.random.bytes(STATE_BYTES))
      const authorizationUrl = await attempts.begin(attemptOf(place), () => offerSignIn(deps, notes, place, { state, directory }))
      return { authorizationUrl, oauthState: state }
    },
    directoryOf: credentials.directoryOf,
    async take(place, state) {
      const entry = await takeEntry(deps, place, state)
      if (entry === undefined) return undefined
      const taken = attempts.take(attemptOf(place))
      if (effects.clock.now() - (entry.oauthStarted ?? 0) <= LIMITS.mcp.attemptAge) return takenAttempt(deps, place, entry, taken)
      taken.late()
      return undefined
    },
    async remove(place) {
      notes.challenges.delete(keyOf(place))
      notes.unregistered.delete(place.server)
      const entry = await credentials.get(place.server, place.config.url)
      await credentials.change(place.server, place.config.url, () => undefined)
      attempts.forget(attemptOf(place))
      if (entry !== undefined)
        await revokeTokens(effects, { server: place.server, entry, config: oauthOf(place), fetch: fetchFor(deps, place) })
    },
    stop: () => attempts.stop(),
  }
}

function takenAttempt(deps: SignInDeps, place: SignInPlace, entry: ServerCredentials, taken: Taken): TakenAttempt {
  return { finish: (returned) => taken.finish(() => exchangeCode(deps, place, entry, returned)), refuse: taken.refuse }
}

/** I1: who takes it looks and changes in one turn, however many come at once. */
async function takeEntry(
  { credentials }: SignInDeps,
  { server, config }: SignInPlace,
  state: string | undefined,
): Promise<ServerCredentials | undefined> {
  if (!isUnderWay(await credentials.get(server, config.url), state)) return undefined
  let taken: ServerCredentials | undefined
  await credentials.change(server, config.url, (entry) => {
    if (!isUnderWay(entry, state)) return entry
    taken = entry
    return withoutAttempt(entry)
  })
  return taken
}

function isUnderWay(entry: ServerCredentials | undefined, state: string | undefined): boolean {
  return entry?.oauthState !== undefined && (state === undefined || state === entry.oauthState)
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
