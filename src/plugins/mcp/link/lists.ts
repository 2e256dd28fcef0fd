/** What a server offers, page by page and bounded (subsystems f.3; threat-model §7). */
import type { Client, Prompt, Resource, Tool } from '@modelcontextprotocol/client'
import { LIMITS } from '../../../protocol/limits.js'

const { pages, entries, listBytes } = LIMITS.mcp

interface Listed<Entry> {
  readonly entries: readonly Entry[]
  /** Why there is less than the server has; undefined = nothing was left out. */
  readonly cut: string | undefined
}

export interface Offers {
  readonly tools: Listed<Tool>
  readonly prompts: Listed<Prompt>
  readonly resources: Listed<Resource>
}

export type OfferKind = keyof Offers
const NOTHING = { entries: [], cut: undefined } as const
export const NO_OFFERS: Offers = { tools: NOTHING, prompts: NOTHING, resources: NOTHING }

interface Asking {
  readonly timeout: number
  readonly signal: AbortSignal
}

/** Tools must be told when the server says that it has some; the others are left empty when they cannot be. */
export async function listOffers(client: Client, asking: Asking): Promise<Offers> {
  const has = client.getServerCapabilities() ?? {}
  const [tools, prompts, resources] = await Promise.all([
    has.tools === undefined ? NOTHING : listTools(client, asking),
    has.prompts === undefined ? NOTHING : listPrompts(client, asking).catch(() => NOTHING),
    has.resources === undefined ? NOTHING : listResources(client, asking).catch(() => NOTHING),
  ])
  return { tools, prompts, resources }
}

function listTools(client: Client, asking: Asking): Promise<Listed<Tool>> {
  return allPages(async (cursor) => {
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params: paged(cursor) }, asking)
    return { items: tools, next: nextCursor }
  })
}

function listPrompts(client: Client, asking: Asking): Promise<Listed<Prompt>> {
  return allPages(async (cursor) => {
    const { prompts, nextCursor } = await client.request({ method: 'prompts/list', params: paged(cursor) }, asking)
    return { items: prompts, next: nextCursor }
  })
}

function listResources(client: Client, asking: Asking): Promise<Listed<Resource>> {
  return allPages(async (cursor) => {
    const { resources, nextCursor } = await client.request({ method: 'resources/list', params: paged(cursor) }, asking)
    return { items: resources, next: nextCursor }
  })
}

const paged = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor })

async function allPages<Entry>(
  page: (cursor: string | undefined) => Promise<{ readonly items: readonly Entry[]; readonly next: string | undefined }>,
): Promise<Listed<Entry>> {
  const found: Entry[] = []
  const seen = new Set<string>()
  let bytes = 0
  let cursor: string | undefined
  for (let count = 0; count < pages; count++) {
    const { items, next } = await page(cursor)
    for (const item of items) {
      bytes += JSON.stringify(item).length
      if (found.length >= entries) return { entries: found, cut: `it lists more than ${entries}` }
      if (bytes > listBytes) return { entries: found, cut: `its list has more than ${listBytes} bytes` }
      found.push(item)
    }
    if (next === undefined || next === '') return { entries: found, cut: undefined }
    if (seen.has(next)) return { entries: found, cut: 'its list leads back to where it was' }
    seen.add(next)
    cursor = next
  }
  return { entries: found, cut: `its list has more than ${pages} pages` }
}
