/** What clients do with sessions of external agents and of a model that is far away, and what those do. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { CREATE_EXTERNAL } from '../../src/protocol/external/external-sessions.js'
import type { Acting } from './acting.js'
import { FAR_MODEL, type Weather } from './far.js'
import type { GuestManner } from './guest-program.js'
import { GUEST, runningGuests } from './guests.js'
import type { Play } from './history.js'
import { type Life, PLACES } from './life.js'

type Who = 'guest' | 'far'

export type OutsideStep =
  /** A client begins a session that an external agent answers, or a model that is far away. */
  | { readonly do: 'reach'; readonly who: Who }
  /** It prompts in the newest, or aborts. */
  | { readonly do: 'reach-asks'; readonly who: Who; readonly name: number; readonly plays: readonly Play[] }
  | { readonly do: 'reach-aborts'; readonly who: Who }
  /** The newest program of an external agent ends, or hangs, or tells something. */
  | { readonly do: 'guest'; readonly how: 'dies' | 'hangs' | 'stirs' }
  /** How programs of it do what they do from now on. */
  | { readonly do: 'guest-manner'; readonly is: GuestManner }
  /** How the network does from now on. */
  | { readonly do: 'weather'; readonly is: Weather }

/** Of each kind. */
const MOST = 2

/** As with any session. */
export interface Usual {
  prompt(
    acting: Acting,
    sessionId: string,
    prompt: { readonly name: number; readonly delivery: 'queue'; readonly plays: readonly Play[] },
  ): void
  abort(acting: Acting, sessionId: string, queue: 'go-on'): void
  operate(
    life: Pick<Life, 'runtime'>,
    operation: string,
    given: { readonly params: Record<string, string>; readonly body: unknown },
  ): Promise<unknown>
}

export function actOutside(acting: Acting, step: OutsideStep, usual: Usual): void | Promise<void> {
  const { guests, far } = acting.known
  switch (step.do) {
    case 'reach':
      return reach(acting, step.who, usual)
    case 'guest-manner':
      return void (guests.manner.is = step.is)
    case 'weather':
      return void (far.weather.is = step.is)
    case 'guest': {
      const [newest] = runningGuests(guests).slice(-1)
      return step.how === 'stirs' ? newest?.stir() : newest?.crash(step.how)
    }
    case 'reach-asks':
    case 'reach-aborts': {
      const newest = newestOf(acting, step.who)
      if (newest === undefined) return
      if (step.do === 'reach-aborts') return usual.abort(acting, newest, 'go-on')
      return usual.prompt(acting, newest, { name: step.name, delivery: 'queue', plays: step.plays })
    }
  }
}

function sessionsOf({ known: { guests, far } }: Acting, who: Who): string[] {
  return who === 'guest' ? guests.sessions : far.sessions
}

/** That is there, as far as clients know. */
function newestOf(acting: Acting, who: Who): string | undefined {
  return sessionsOf(acting, who).findLast((id) => acting.known.sessions.includes(id))
}

function reach(acting: Acting, who: Who, { operate }: Usual): void {
  const { known, life, call } = acting
  const own = sessionsOf(acting, who)
  if (own.filter((id) => known.sessions.includes(id)).length >= MOST) return
  const noted = ({ id }: { readonly id: string }) => {
    own.push(id)
    known.sessions.push(id)
  }
  if (who === 'far') {
    const request = { title: 'Far', model: FAR_MODEL }
    return call('reach far', () => life.runtime.sessions.create(TRUSTED_CALLER, PLACES.cwd, request), noted)
  }
  const permission = [{ permission: 'external_agent', pattern: '*', action: 'ask' }]
  const body = { externalProvider: GUEST, title: 'Guest', permission }
  call('reach guest', () => operate(life, CREATE_EXTERNAL, { params: {}, body }) as Promise<{ readonly id: string }>, noted)
}
