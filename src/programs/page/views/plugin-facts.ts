/** What a plugin offers, what it holds and uses of the host, and its last calls. */
import type { InspectedPlugin } from '../../../protocol/system/inspector.js'
import { clock, h } from '../elements.js'
import { shortId } from '../names.js'
import { callWords, type GrantRow, grantRows, isFailedCall, leaseWords, offerGroups, quotaWords } from '../plugin-words.js'
import { since } from '../settle.js'
import { shownLine } from '../shown-text.js'

type Child = HTMLElement | string

const NO_EFFECT = 'no-effect'

/** Diagnostics that are told with what it offers. */
export function isWithoutEffect({ code }: { readonly code: string }): boolean {
  return code === NO_EFFECT
}

export function offers(plugin: InspectedPlugin): Child[] {
  const { diagnostics, moreOffers = 0, offers: listed } = plugin
  const idle = diagnostics.filter(isWithoutEffect).map(({ message }) => h('p', { class: 'warn' }, shownLine(message)))
  if (listed === undefined) return [h('p', { class: 'soft' }, 'It says what it offers when it runs.'), ...idle]
  if (listed.length === 0) return [h('p', { class: 'soft' }, 'Nothing.'), ...idle]
  const groups = offerGroups(plugin).flatMap(({ kind, items }) => [
    h('dt', {}, kind),
    h(
      'dd',
      {},
      ...items.flatMap(({ id, detail }) => [
        h('code', { class: 'offer' }, shownLine(id), detail !== undefined && h('small', {}, shownLine(detail))),
        ' ',
      ]),
    ),
  ])
  return [h('dl', {}, ...groups), ...(moreOffers > 0 ? [h('p', { class: 'soft' }, `and ${moreOffers} more`)] : []), ...idle]
}

const INSIDE: Partial<Record<InspectedPlugin['origin'], string>> = {
  native: 'It is part of svc and runs inside of the server: it holds no leases.',
  'hook-command': 'It is run anew for each hook and asks nothing of the host.',
}

export function grants(plugin: InspectedPlugin): Child[] {
  const rows = grantRows(plugin)
  if (rows.length === 0) return [h('p', { class: 'soft', role: 'listitem' }, INSIDE[plugin.origin] ?? 'It asks for nothing.')]
  const isSeveral = new Set(rows.flatMap(({ generation }) => generation ?? [])).size > 1
  return rows.map((row) => grantRow(row, isSeveral))
}

const GOOD = ['granted', 'used']
const BAD = ['no broker', 'revoked']

function grantRow({ capability, words, state, generation, lease }: GrantRow, isSeveral: boolean): HTMLElement {
  const tone = GOOD.includes(state) ? 'good' : BAD.includes(state) ? 'bad' : 'warn'
  const counts: Child[] = lease === undefined ? [] : [leaseWords(lease)]
  if (lease?.lastUsedAt !== undefined) counts.push(' · last ', since(lease.lastUsedAt), ' ago')
  return h(
    'div',
    { class: 'lease', role: 'listitem', 'data-capability': capability },
    h('b', {}, capability, isSeveral && generation !== undefined && ` #${generation}`),
    h('span', { class: `badge ${tone}` }, state),
    h('small', {}, ...counts),
    words !== undefined && h('small', {}, shownLine(words)),
  )
}

export function quotas({ quotas: known = [] }: InspectedPlugin): Child[] {
  if (known.length === 0) return [h('p', { class: 'soft', role: 'listitem' }, 'Nothing of what it holds is counted against a quota.')]
  return known.map((quota) => {
    const { text, part } = quotaWords(quota)
    const label = `${quota.capability}: ${text}`
    return h(
      'div',
      { class: 'quota', role: 'listitem', 'data-quota': `${quota.capability} ${quota.unit}` },
      h('b', {}, quota.capability),
      h('span', { class: part === 1 ? 'bad' : undefined }, text),
      part !== undefined && h('meter', { min: 0, max: 1, high: 0.8, value: part.toFixed(3), 'aria-label': label }),
    )
  })
}

/** The latest first. */
export function lastCalls({ calls = [] }: InspectedPlugin, showActor: (id: string) => void): Child[] {
  if (calls.length === 0) return [h('p', { class: 'soft' }, 'None yet.')]
  return calls.toReversed().map((call) => {
    const { at, from, generation, method, name, sessionId } = call
    return h(
      'p',
      { class: isFailedCall(call) ? 'bad' : undefined, 'data-outcome': call.outcome },
      h('span', { class: 'time' }, clock(at)),
      h(
        'span',
        { class: 'way', title: from === 'host' ? 'svc calls it' : 'it calls svc' },
        `#${generation} ${from === 'host' ? '→' : '←'}`,
      ),
      h('span', { class: 'called' }, shownLine(method), name !== undefined && h('b', {}, ` ${shownLine(name)}`)),
      sessionId !== undefined && sessionLink(`session:${sessionId}`, `${at} ${method} ${name ?? ''}`, showActor),
      h('span', { class: 'outcome' }, callWords(call)),
    )
  })
}

function sessionLink(actorId: string, call: string, showActor: (id: string) => void): HTMLElement {
  const element = h('button', { type: 'button', class: 'link', title: actorId, 'data-act': `${call} ${actorId}` }, shortId(actorId))
  element.addEventListener('click', () => showActor(actorId))
  return element
}
