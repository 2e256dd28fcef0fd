/**
 * Sign-ins that go on: an actor for each, found by the id of its attempt (subsystems c.7).
 *
 * I1 An attempt is bound to its provider, scope and caller, and waited for once.
 * I2 It lives in memory alone: a restart cancels it.
 */
import { createActor } from 'xstate'
import { type signInMachine, type SignInKind } from '../../../machines/sign-in/sign-in.machine.js'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru, type Lru } from '../../../kernel/lru.js'
import type { AuthInfo } from '../../../protocol/provider/connection.js'
import type { ProviderAuthAuthorization, ProviderAuthorizeRequest, ProviderCallbackRequest } from '../../../protocol/provider/sign-in.js'
import type { SignInConfig } from '../../../protocol/resource/agent-config.js'
import type { Effects } from '../../../ports/effects.js'
import type { SignIns } from '../../../ports/sign-ins.js'
import type { ActorRegistry } from '../../../kernel/roots.js'
import { reached } from '../../../kernel/reached.js'
import { type Supervised, type Supervision, supervise } from '../../../kernel/supervise.js'
import type { OAuth, Tokens } from './oauth.js'
import { createPastedTokens, type PastedTokens, type Place } from './pasted-tokens.js'
import { chooseMethod, type Method } from './settings.js'
import { type SignInEffects, signInEffects, type SignInPlan } from './sign-in.actor.js'

/** What a sign-in stores. */
export interface NewCredential {
  readonly providerId: string
  readonly workspaceId: string | undefined
  /** Whose credential is replaced; undefined = a new connection. */
  readonly connectionId: string | undefined
  readonly label: string
  readonly credential: AuthInfo
  /** Where it may be sent instead of the address of the provider. */
  readonly endpoint: string | undefined
  /** Who renews it; undefined = nobody. */
  readonly issuer: string | undefined
}

export interface SignInsDeps {
  readonly effects: Pick<Effects, 'clock' | 'log' | 'network' | 'random'>
  readonly oauth: OAuth
  readonly actors: ActorRegistry
  readonly inspect?: Supervision<typeof signInMachine>['inspect']
  /** Ways to connect a provider. Throws `resource.not_found` for one the installation does not know. */
  readonly methods: (providerId: string) => Promise<{ readonly methods: readonly Method[]; readonly settings: SignInConfig | undefined }>
  readonly allMethods: SignIns['methods']
  readonly store: (credential: NewCredential) => Promise<void>
  /** Where credentials of a provider go. */
  readonly address: (providerId: string) => Promise<string | undefined>
  /** Throws `resource.conflict` when nothing can be stored. */
  readonly checkWritable: () => void
  /** Throws `resource.not_found`. */
  readonly checkConnection: (providerId: string, workspaceId: string | undefined, connectionId: string) => Promise<void>
  readonly usage: SignIns['usage']
}

interface Attempt {
  readonly providerId: string
  readonly workspaceId: string | undefined
  readonly subject: string
  readonly kind: SignInKind
  readonly effects: SignInEffects
  readonly ref: NonNullable<ReturnType<ReturnType<typeof supervise<typeof signInMachine>>['get']>>
  /** Somebody waits for its end, or did. */
  isAwaited: boolean
  /** Its user has given the answer. */
  isAnswered: boolean
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const ID_LENGTH = 40

export interface SupervisedSignIns {
  readonly facade: SignIns
  /** Cancels all of them. */
  stop(): void
}

/** Those that go on, and those that did. */
interface Kept {
  readonly deps: SignInsDeps
  readonly pasted: PastedTokens
  readonly supervised: Supervised<typeof signInMachine>
  readonly attempts: Lru<string, Attempt>
  readonly open: Map<string, Attempt>
}

export function createSignIns(deps: SignInsDeps): SupervisedSignIns {
  const { effects } = deps
  const open = new Map<string, Attempt>()
  const supervised = supervise<typeof signInMachine>({
    effects,
    kind: 'sign-in',
    inspect: deps.inspect,
    actors: deps.actors,
    onEnded(attemptId) {
      open.get(attemptId)?.effects.close()
      open.delete(attemptId)
    },
  })
  const kept: Kept = { deps, pasted: createPastedTokens(effects), supervised, attempts: createLru(LIMITS.signIn.attempts), open }
  return {
    facade: {
      methods: deps.allMethods,
      usage: deps.usage,
      authorize: (caller, providerId, workspaceId, request) => authorize(kept, caller, { providerId, workspaceId }, request),
      callback: (caller, providerId, workspaceId, given, signal) => callback(kept, caller, { providerId, workspaceId }, given, signal),
    },
    stop() {
      void supervised.drain((ref) => {
        if (ref.getSnapshot().hasTag('open')) ref.send({ type: 'cancel.requested' })
      })
    },
  }
}

async function authorize(
  kept: Kept,
  caller: Caller,
  place: Place,
  request: ProviderAuthorizeRequest,
): Promise<ProviderAuthAuthorization | null> {
  const { deps, pasted } = kept
  const { providerId, workspaceId } = place
  const { methods, settings } = await deps.methods(providerId)
  const { kind } = chooseMethod(methods, request.method)
  deps.checkWritable()
  if (request.connectionId !== undefined) await deps.checkConnection(providerId, workspaceId, request.connectionId)
  if (kind === 'token') {
    const wanted = { label: request.label, connectionId: request.connectionId, attemptId: newId(deps.effects.random) }
    return pasted.begin(caller, place, { ...wanted, address: await deps.address(providerId) })
  }
  if (kind === 'api' || settings === undefined) return null
  return begin(kept, caller, place, { kind, settings, request })
}

async function callback(
  kept: Kept,
  caller: Caller,
  place: Place,
  { method, code, attemptId }: ProviderCallbackRequest,
  signal: AbortSignal,
): Promise<true> {
  const { deps, pasted } = kept
  if (attemptId !== undefined && pasted.isKnown(attemptId)) {
    if (code === undefined || code === null) throw new SvcError('request.invalid', '"code" must be the token to store.')
    const wanted = pasted.take(caller, place, attemptId)
    if (wanted === undefined) throw noSignIn()
    const { label = 'Token', connectionId } = wanted
    await deps.store({ ...place, connectionId, label, credential: tokenOf(code), endpoint: undefined, issuer: undefined })
    return true
  }
  if (attemptId !== undefined) {
    const given = code ?? undefined
    return end(claim(kept, caller, place, attemptId, given !== undefined), given, signal)
  }
  const { kind } = chooseMethod((await deps.methods(place.providerId)).methods, method)
  if (kind !== 'api' && kind !== 'token') throw new SvcError('request.invalid', '"attemptId" must say which sign-in is meant.')
  if (code === undefined || code === null)
    throw new SvcError('request.invalid', `"code" must be the ${kind === 'api' ? 'key' : 'token'} to store.`)
  const credential: AuthInfo = kind === 'api' ? { type: 'api', key: code } : tokenOf(code)
  const label = kind === 'api' ? 'Key' : 'Token'
  await deps.store({ ...place, connectionId: undefined, label, credential, endpoint: undefined, issuer: undefined })
  return true
}

async function begin(kept: Kept, caller: Caller, place: Place, what: Begin): Promise<ProviderAuthAuthorization> {
  const { deps, supervised, attempts, open } = kept
  const { effects } = deps
  const { kind } = what
  if (kind === 'browser') giveWay(kept, caller, place)
  if (supervised.size >= LIMITS.signIn.open) throw new SvcError('quota.exceeded', `${LIMITS.signIn.open} sign-ins go on; end one first.`)
  const attemptId = newId(effects.random)
  const { providerId, workspaceId } = place
  const made = signInEffects({ effects, oauth: deps.oauth }, planOf(deps, place, what))
  const expiresAt = effects.clock.now() + LIMITS.signIn.lifetime
  const input = { attemptId, at: providerId, kind, lifetime: LIMITS.signIn.lifetime }
  const ref = supervised.start(attemptId, (options) => createActor(made.logic, { id: `sign-in:${attemptId}`, input, ...options }))
  if (ref === undefined) throw new SvcError('lifecycle.closed')
  const attempt = { providerId, workspaceId, subject: caller.subject, kind, effects: made, ref, isAwaited: false, isAnswered: false }
  attempts.set(attemptId, attempt)
  open.set(attemptId, attempt)
  await reached(ref, (snapshot) => !snapshot.hasTag('offering'))
  const { offer, reason } = ref.getSnapshot().context
  if (offer === undefined) throw new SvcError('request.unprocessable', reason ?? 'The sign-in was cancelled.')
  return { ...offer, method: kind === 'code' ? 'code' : 'auto', attemptId, expiresAt }
}

/** What is stored when it ends well. */
function planOf({ store }: SignInsDeps, place: Place, { kind, settings, request }: Begin): SignInPlan {
  return {
    kind,
    settings,
    store: (tokens) =>
      store({
        ...place,
        connectionId: request.connectionId,
        label: request.label ?? 'Sign-in',
        credential: credentialOf(tokens),
        endpoint: settings.baseURL,
        issuer: settings.issuer ?? settings.tokenUrl,
      }),
  }
}

/** Who begins again has left the page of before; its port may be the only one that is registered. */
function giveWay({ open }: Kept, caller: Caller, { providerId, workspaceId }: Place): void {
  for (const attempt of open.values()) {
    const isTheirs = attempt.providerId === providerId && attempt.workspaceId === workspaceId && attempt.subject === caller.subject
    if (isTheirs && attempt.kind === 'browser' && !attempt.isAwaited && isOpen(attempt)) attempt.ref.send({ type: 'cancel.requested' })
  }
}

/** I1. Somebody may wait for an attempt, and its answer be given meanwhile, each once. */
function claim({ attempts }: Kept, caller: Caller, place: Place, attemptId: string, hasCode: boolean): Attempt {
  const attempt = attempts.get(attemptId)
  const isOurs = attempt?.providerId === place.providerId && attempt.workspaceId === place.workspaceId && attempt.subject === caller.subject
  const isUsed =
    attempt !== undefined &&
    (hasCode ? attempt.isAnswered || (attempt.isAwaited && !isOpen(attempt)) : attempt.isAwaited || attempt.isAnswered)
  if (attempt !== undefined && isOurs && !isUsed) return attempt
  throw noSignIn()
}

async function end(attempt: Attempt, code: string | undefined, signal: AbortSignal): Promise<true> {
  const { ref } = attempt
  if (code !== undefined && isOpen(attempt) && !attempt.effects.paste(code))
    throw new SvcError('request.invalid', 'This sign-in has its answer already.')
  if (code === undefined && attempt.kind === 'code')
    throw new SvcError('request.invalid', 'This sign-in needs the code that the provider shows.')
  if (code === undefined) attempt.isAwaited = true
  else attempt.isAnswered = true
  const leave = () => {
    if (isOpen(attempt)) ref.send({ type: 'cancel.requested' })
  }
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    await reached(ref, (snapshot) => !snapshot.hasTag('open'))
    const last = ref.getSnapshot()
    if (last.hasTag('connected')) return true
    throw new SvcError('request.unprocessable', last.context.reason ?? ENDS[last.hasTag('expired') ? 'expired' : 'cancelled'])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function noSignIn(): SvcError {
  return new SvcError(
    'request.invalid',
    'There is no such sign-in here: it is over, was used already, or began before this server. Begin another one.',
  )
}

function tokenOf(access: string): AuthInfo {
  return { type: 'oauth', access, refresh: '', expires: 0 }
}

interface Begin {
  readonly kind: SignInKind
  readonly settings: SignInConfig
  readonly request: ProviderAuthorizeRequest
}

function isOpen({ ref }: Attempt): boolean {
  return ref.getSnapshot().hasTag('open')
}

const ENDS = {
  expired: 'The sign-in took too long. Begin another one.',
  cancelled: 'The sign-in was cancelled.',
} as const

function credentialOf({ access, refresh, expires, accountId }: Tokens): AuthInfo {
  return { type: 'oauth', access, refresh, expires, ...(accountId === undefined ? {} : { accountId }) }
}

/** Without the bias of a remainder. */
function newId(random: Effects['random']): string {
  let id = ''
  while (id.length < ID_LENGTH)
    for (const byte of random.bytes(ID_LENGTH)) {
      if (byte < 248 && id.length < ID_LENGTH) id += LETTERS[byte % LETTERS.length]
    }
  return `attempt_${id}`
}
