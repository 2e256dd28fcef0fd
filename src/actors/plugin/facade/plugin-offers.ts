/** What a plugin contributes, by kind and id, for the inspector; made once for each set. */
import { LIMITS } from '../../../protocol/limits.js'
import type { InspectedOffer } from '../../../protocol/system/inspector.js'
import type { Contributions } from '../../../ports/plugin.js'
import { contributionList } from './plugin-list.js'

interface Offers {
  readonly offers: InspectedOffer[]
  readonly moreOffers?: number
}

const made = new WeakMap<Contributions, Offers>()

export function offersOf(contributions: Contributions): Offers {
  const known = made.get(contributions)
  if (known !== undefined) return known
  const all = listed(contributions)
  const offers = all.slice(0, LIMITS.inspector.pluginOffers)
  const more = all.length - offers.length
  const both = more === 0 ? { offers } : { offers, moreOffers: more }
  made.set(contributions, both)
  return both
}

function listed(contributions: Contributions): InspectedOffer[] {
  const { routes = [], websocketRoutes = [], providers = [], operations = {}, sockets = {} } = contributions
  const places = new Map([...routes, ...websocketRoutes].map(({ descriptor: { id, method, path } }) => [id, `${method} ${path}`]))
  const own = contributionList(contributions).map(({ kind, id }): InspectedOffer => {
    const detail = kind === 'route' ? places.get(id) : undefined
    return { kind, id, ...(detail !== undefined && { detail }) }
  })
  const adapters = providers.flatMap(({ npm, builtin }) => npm.filter((name) => name !== builtin?.id))
  const more = (kind: string, ids: readonly string[]) => ids.map((id) => ({ kind, id }))
  return [...own, ...more('adapter', adapters), ...more('operation', [...Object.keys(operations), ...Object.keys(sockets)])]
}
