/** What is outside of a server beside its clients: external agents, and a model that is reached by a network. In histories with steps of them alone. */
import { externalPlugin } from '../../src/plugins/external/external.plugin.js'
import { createOpenAICompatiblePlugin } from '../../src/plugins/providers/openai-compatible/openai-compatible.plugin.js'
import type { NativePlugin } from '../../src/ports/plugin.js'
import type { OutsideStep } from './acts-outside.js'
import { FAR_ENV, farEffects, type KnownFar } from './far.js'
import { GUEST_ENV, guestEffects, guestsOver, type KnownGuests, letGuestsGoOn } from './guests.js'
import type { History, Step } from './history.js'
import type { House } from './lodger.js'
import type { Played } from './played.js'

const OUTSIDE: ReadonlySet<Step['do']> = new Set<OutsideStep['do']>([
  'reach',
  'reach-asks',
  'reach-aborts',
  'guest',
  'guest-manner',
  'weather',
])

export function isOutward(history: History): boolean {
  return history.some((step) => OUTSIDE.has(step.do))
}

/** What the server loads with the first turn of an external agent is there before, so that no turn is longer than another. */
export async function loadOutside(): Promise<void> {
  await import('@agentclientprotocol/sdk')
}

interface Known {
  readonly guests: KnownGuests
  readonly far: KnownFar
}

export function outsidePlugins(): readonly NativePlugin[] {
  return [externalPlugin({ env: GUEST_ENV }), createOpenAICompatiblePlugin()]
}

/** The same house, with what is outside of it. */
export function houseOutward(house: House, { guests, far }: Known, { next }: Pick<Played, 'next'>): House {
  return {
    ...house,
    effects(effects) {
      const inner = house.effects(effects)
      const outer = farEffects(far, guestEffects(guests, inner, effects), effects, next)
      return { ...outer, env: { ...outer.env, ...FAR_ENV } }
    },
    over(life) {
      house.over(life)
      guestsOver(guests, life)
    },
  }
}

/** Whatever hangs goes on. */
export function letOutsideGoOn({ guests, far }: Known): void {
  letGuestsGoOn(guests)
  far.weather.is = 'fair'
}
