/** What a plugin offers, holds, uses and was called for, in words; pure. */
import type { InspectedCall, InspectedPlugin, InspectedQuota } from '../../protocol/system/inspector.js'
import { duration, size } from './chart/measures.js'

const KINDS: Readonly<Record<string, string>> = {
  tool: 'tools',
  hook: 'hooks',
  command: 'commands',
  agent: 'agents',
  'skill-source': 'skills',
  provider: 'providers',
  adapter: 'provider adapters',
  'system-prompt': 'prompts',
  route: 'routes',
  part: 'message parts',
  event: 'events',
  'config-loader': 'configuration',
  mcp: 'MCP servers',
  operation: 'operations',
}

export interface OfferGroup {
  readonly kind: string
  readonly items: readonly { readonly id: string; readonly detail?: string | undefined }[]
}

/** By kind, those that are called most first. */
export function offerGroups({ offers = [] }: Pick<InspectedPlugin, 'offers'>): OfferGroup[] {
  const order = Object.keys(KINDS)
  const rank = (kind: string) => (order.includes(kind) ? order.indexOf(kind) : order.length)
  const kinds = [...new Set(offers.map(({ kind }) => kind))].toSorted((a, b) => rank(a) - rank(b))
  return kinds.map((kind) => ({ kind: KINDS[kind] ?? kind, items: offers.filter((offer) => offer.kind === kind) }))
}

type Lease = NonNullable<InspectedPlugin['generations'][number]['brokers']>[number]

export interface GrantRow {
  readonly capability: string
  readonly words: string | undefined
  /** `no broker`, `not granted`, `granted` where nothing of it runs, else the state of the lease. */
  readonly state: string
  readonly generation?: number
  readonly lease?: Lease
}

/** Everything it asks for, with the lease of each generation that holds it. */
export function grantRows(plugin: InspectedPlugin): GrantRow[] {
  const { requestedCapabilities: requested, grantedCapabilities: granted, unprovidedCapabilities: unprovided = [], requests = [] } = plugin
  const held = plugin.generations.flatMap(({ number, brokers = [] }) => brokers.map((lease) => ({ number, lease })))
  const names = [...new Set([...requested, ...held.map(({ lease }) => lease.capability)])]
  return names.flatMap((capability): GrantRow[] => {
    const words = requests.find((request) => request.capability === capability)?.words
    const leases = held.filter(({ lease }) => lease.capability === capability)
    const found = unprovided.includes(capability) ? 'no broker' : granted.includes(capability) ? 'granted' : 'not granted'
    if (leases.length === 0) return [{ capability, words, state: found }]
    return leases.map(({ number, lease }) => ({ capability, words, state: lease.state ?? found, generation: number, lease }))
  })
}

/** `3 calls, 1 refused · 1 of 16 running · 0 of 32 open · 2.0 KiB`. */
export function leaseWords({ calls, denied, running, runningMost, open, openMost, bytes }: Lease): string {
  const outOf = (count: number, most: number | undefined) => (most === undefined ? `${count}` : `${count} of ${most}`)
  return [
    `${calls} ${calls === 1 ? 'call' : 'calls'}${denied > 0 ? `, ${denied} refused` : ''}`,
    runningMost !== undefined && `${outOf(running, runningMost)} running`,
    openMost !== undefined && `${outOf(open, openMost)} open`,
    bytes > 0 && size(bytes),
  ]
    .filter(Boolean)
    .join(' · ')
}

/** What is used of a quota, as a sentence without its capability; `part`: from 0 to 1 of it, where that is known. */
export function quotaWords({ unit, used, limit, per }: InspectedQuota): { readonly text: string; readonly part: number | undefined } {
  const amount = (value: number) => {
    if (unit === 'bytes') return size(value)
    return unit === 'cost' ? value.toFixed(4).replace(/\.?0+$/, '') : value.toLocaleString('en')
  }
  const [before, after] = unit === 'cost' ? ['cost ', ''] : ['', unit === 'bytes' ? '' : ` ${unit}`]
  if (limit === undefined) return { text: `${before}${amount(used)}${after} this ${per}`, part: undefined }
  return { text: `${before}${amount(used)} of ${amount(limit)}${after} a ${per}`, part: limit === 0 ? 1 : Math.min(1, used / limit) }
}

export function isFailedCall({ outcome }: Pick<InspectedCall, 'outcome'>): boolean {
  return !['ok', 'running', 'aborted'].includes(outcome)
}

/** `ok after 12 ms`; of one that runs nothing but that. */
export function callWords({ outcome, ms }: Pick<InspectedCall, 'outcome' | 'ms'>): string {
  return ms === undefined ? outcome : `${outcome} after ${duration(ms)}`
}

/** What an approval would add to what serves, and what it would no longer have; nothing where nothing serves. */
export function grantChanges({ requestedCapabilities: asked, retainedCapabilities: before }: InspectedPlugin): {
  readonly added: readonly string[]
  readonly dropped: readonly string[]
} {
  if (before === undefined) return { added: [], dropped: [] }
  return { added: asked.filter((name) => !before.includes(name)), dropped: before.filter((name) => !asked.includes(name)) }
}
