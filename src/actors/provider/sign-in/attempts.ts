/**
 * Sign-ins that go on in a browser or with a code: an actor for each, found by the id of its attempt (subsystems c.7).
 *
 * I1 An attempt is bound to its provider, scope and caller, and waited for once.
 * I2 It lives in memory alone: a restart cancels it.
 */
import { createActor } from 'xstate'
import { type signInMachine, type SignInKind } from '../../../machines/sign-in/sign-in.machine.js'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import type { AuthInfo } from '../../../protocol/provider/connection.js'
import type { ProviderAuthorizeRequest } from '../../../protocol/provider/sign-in.js'
import type { SignInConfig } from '../../../protocol/resource/agent-config.js'
import type { Effects } from '../../../ports/effects.js'
import type { ActorRegistry } from '../../../kernel/roots.js'
import { reached } from '../../../kernel/reached.js'
import { type Supervision, supervise } from '../../../kernel/supervise.js'
import type { OAuth, Tokens } from './oauth.js'
import type { Place } from './pasted-tokens.js'
import { type SignInEffects, signInEffects } from './sign-in.actor.js'

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

export interface AttemptsDeps {
  readonly effects: Pick<Effects, 'clock' | 'log' | 'network' | 'random'>
  readonly oauth: OAuth
  readonly actors: ActorRegistry
  readonly inspect?: Supervision<typeof signInMachine>['inspect']
  readonly store: (credential: NewCredential) => Promise<void>
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

interface Begin {
  readonly kind: SignInKind
  readonly settings: SignInConfig
  readonly request: ProviderAuthorizeRequest
}

/** How it goes on, in whosever way. */
interface BeginWith {
  readonly kind: SignInKind
  readonly made: SignInEffects
}

export function createAttempts(deps: AttemptsDeps) {
  const { effects, oauth, store } = deps
  const attempts = createLru<string, Attempt>(LIMITS.signIn.attempts)
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

  /** Who begins again has left the page of before; its port may be the only one that is registered. */
  function giveWay(caller: Caller, { providerId, workspaceId }: Place): void {
    for (const attempt of open.values()) {
      const isTheirs = attempt.providerId === providerId && attempt.workspaceId === workspaceId && attempt.subject === caller.subject
      if (isTheirs && attempt.kind === 'browser' && !attempt.isAwaited && isOpen(attempt)) attempt.ref.send({ type: 'cancel.requested' })
    }
  }

  function begin(caller: Caller, place: Place, { kind, settings, request }: Begin) {
    const label = request.label ?? 'Sign-in'
    const made = signInEffects(
      { effects, oauth },
      {
        kind,
        settings,
        store: (tokens) =>
          store({
            ...place,
            connectionId: request.connectionId,
            label,
            credential: credentialOf(tokens),
            endpoint: settings.baseURL,
            issuer: settings.issuer ?? settings.tokenUrl,
          }),
      },
    )
    return beginWith(caller, place, { kind, made })
  }

  async function beginWith(caller: Caller, place: Place, { kind, made }: BeginWith) {
    if (kind === 'browser') giveWay(caller, place)
    if (supervised.size >= LIMITS.signIn.open) throw new SvcError('quota.exceeded', `${LIMITS.signIn.open} sign-ins go on; end one first.`)
    const attemptId = newId(effects.random)
    const { providerId, workspaceId } = place
    const expiresAt = effects.clock.now() + LIMITS.signIn.lifetime
    const ref = supervised.start(attemptId, (options) =>
      createActor(made.logic, {
        id: `sign-in:${attemptId}`,
        input: { attemptId, at: providerId, kind, lifetime: LIMITS.signIn.lifetime },
        ...options,
      }),
    )
    if (ref === undefined) throw new SvcError('lifecycle.closed')
    const attempt = { providerId, workspaceId, subject: caller.subject, kind, effects: made, ref, isAwaited: false, isAnswered: false }
    attempts.set(attemptId, attempt)
    open.set(attemptId, attempt)
    await reached(ref, (snapshot) => !snapshot.hasTag('offering'))
    const { offer, reason } = ref.getSnapshot().context
    if (offer === undefined) throw new SvcError('request.unprocessable', reason ?? 'The sign-in was cancelled.')
    return { ...offer, method: needsCode({ kind, effects: made }) ? ('code' as const) : ('auto' as const), attemptId, expiresAt }
  }

  /** I1. Somebody may wait for an attempt, and its answer be given meanwhile, each once. */
  function claim(caller: Caller, place: Place, attemptId: string, hasCode: boolean): Attempt {
    const attempt = attempts.get(attemptId)
    const isOurs =
      attempt?.providerId === place.providerId && attempt.workspaceId === place.workspaceId && attempt.subject === caller.subject
    const isUsed =
      attempt !== undefined &&
      (hasCode ? attempt.isAnswered || (attempt.isAwaited && !isOpen(attempt)) : attempt.isAwaited || attempt.isAnswered)
    if (attempt !== undefined && isOurs && !isUsed) return attempt
    throw noSignIn()
  }

  return {
    begin,
    beginWith,
    /** Waits for the end of an attempt, or gives it its answer. */
    end: (caller: Caller, place: Place, attemptId: string, code: string | undefined, signal: AbortSignal) =>
      end(claim(caller, place, attemptId, code !== undefined), code, signal),
    stop() {
      void supervised.drain((ref) => {
        if (ref.getSnapshot().hasTag('open')) ref.send({ type: 'cancel.requested' })
      })
    },
  }
}

/** Answers whether it connected; throws why it did not. */
async function end(attempt: Attempt, code: string | undefined, signal: AbortSignal): Promise<boolean> {
  const { ref } = attempt
  if (code !== undefined && isOpen(attempt) && !attempt.effects.paste(code))
    throw new SvcError('request.invalid', 'This sign-in has its answer already.')
  if (code === undefined && needsCode(attempt))
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
    const outcome = ref.getSnapshot()
    if (outcome.hasTag('connected')) return true
    throw new SvcError('request.unprocessable', outcome.context.reason ?? ENDS[outcome.hasTag('expired') ? 'expired' : 'cancelled'])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function needsCode({ kind, effects }: Pick<Attempt, 'kind' | 'effects'>): boolean {
  return effects.needsCode?.() ?? kind === 'code'
}

export function noSignIn(): SvcError {
  return new SvcError(
    'request.invalid',
    'There is no such sign-in here: it is over, was used already, or began before this server. Begin another one.',
  )
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
export function newId(random: Effects['random']): string {
  let id = ''
  while (id.length < ID_LENGTH)
    for (const byte of random.bytes(ID_LENGTH)) {
      if (byte < 248 && id.length < ID_LENGTH) id += LETTERS[byte % LETTERS.length]
    }
  return `attempt_${id}`
}
