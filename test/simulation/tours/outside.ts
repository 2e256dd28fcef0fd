/** External agents, wherever they, their server and their clients leave them; and a model that is reached by a network that fails. */
import type { OutsideStep } from '../acts-outside.js'
import { type Weather, WEATHERS } from '../far.js'
import { GUEST_MANNERS, type GuestManner } from '../guest-program.js'
import type { History, Step } from '../history.js'
import { create, full, kill, restart, says, wait, when } from './steps.js'

export const guest: OutsideStep = { do: 'reach', who: 'guest' }
export const far: OutsideStep = { do: 'reach', who: 'far' }
export const asksGuest = (name: number): OutsideStep => ({ do: 'reach-asks', who: 'guest', name, plays: [] })
export const asksFar = (name: number): OutsideStep => ({ do: 'reach-asks', who: 'far', name, plays: [{ ...says, words: 3 }] })
export const aborts = (who: 'guest' | 'far'): OutsideStep => ({ do: 'reach-aborts', who })
export const guestManner = (is: GuestManner): OutsideStep => ({ do: 'guest-manner', is })
export const weather = (is: Weather): OutsideStep => ({ do: 'weather', is })
const guestDies: OutsideStep = { do: 'guest', how: 'dies' }
const guestHangs: OutsideStep = { do: 'guest', how: 'hangs' }
export const answers: Step = { do: 'answer', request: 0, how: 'once' }

const short = wait(500)
const long = wait(65_000)
const had = [create, guest, wait(), asksGuest(1), wait(2000)]
let name = 100
/** Somebody prompts, and something happens in a moment of the turn. */
const meanwhile = (state: string, then: Step, is: GuestManner = 'well'): History => [
  guestManner(is),
  when(`external-turn: ${state}`, then),
  asksGuest(name++),
  wait(10_000),
]

export const OUTSIDE: Readonly<Record<string, History>> = {
  'an external agent does what it does': [
    ...had,
    ...GUEST_MANNERS.flatMap((is, at) => [guestManner(is), asksGuest(10 + at), short, answers, wait(2000), aborts('guest'), long]),
    ...(['dawdles', 'repeats', 'repeats', 'refuses', 'refuses'] as const).flatMap((is, at) => [guestManner(is), asksGuest(40 + at), long]),
  ],
  'an external agent is stopped, or stops, wherever it is': [
    ...had,
    ...['opening.starting', 'opening.loading', 'opening.choosing', 'prompting.working', 'settling'].flatMap((state) => [
      ...meanwhile(state, aborts('guest')),
      ...meanwhile(state, guestDies),
    ]),
    ...meanwhile('opening.draining', aborts('guest'), 'repeats'),
    ...meanwhile('opening.draining', guestDies, 'repeats'),
    guestManner('hangs'),
    when('external-turn: prompting.cancelling', guestDies),
    asksGuest(50),
    wait(2000),
    aborts('guest'),
    wait(10_000),
    guestHangs,
    asksGuest(51),
    wait(),
    guestHangs,
    aborts('guest'),
    wait(10_000),
  ],
  'a server dies or starts anew wherever an external agent is': [
    ...had,
    ...['opening.loading', 'prompting.working', 'settling', 'held', 'leaving', 'ending'].flatMap((state) => [
      ...meanwhile(state, kill),
      ...meanwhile(state, restart),
      ...meanwhile(state, full),
    ]),
  ],
  'a network fails wherever a request is': [
    create,
    far,
    wait(),
    ...WEATHERS.flatMap((is, at) => [weather(is), asksFar(10 + at), wait(2000), asksFar(30 + at), long, wait(400_000)]),
    ...(['mute', 'stalls', 'haunts', 'slow'] as const).flatMap((is, at) => [
      weather(is),
      asksFar(50 + at),
      wait(),
      aborts('far'),
      wait(5000),
      asksFar(60 + at),
      wait(),
      kill,
      wait(5000),
    ]),
  ],
}
