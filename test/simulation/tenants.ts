/**
 * Two tenants beside the local caller: whom they are, what they have, and what reaches them.
 *
 * I1 Whatever reaches a tenant is looked at as it comes: it names no session and no folder of anybody else.
 */
import { join } from 'node:path'
import type { Caller } from '../../src/protocol/caller.js'
import type { SeenEvent } from '../../src/published/testing/heard.js'
import { PLACES } from './life.js'
import { createReader, type Reader } from './reader.js'

export interface Tenant {
  readonly caller: Caller
  readonly directory: string
  /** Sessions that were acknowledged, and not deleted. */
  readonly sessions: string[]
  /** Sessions that its events have named: its own, and those of its tasks. */
  readonly family: Set<string>
  /** What of others reached it, in order. */
  readonly leaks: string[]
  reader: Reader
  /** It reads from the beginning again: what was told and lost with the power is forgotten. */
  renew(): void
}

const NAMES = ['acme', 'beta'] as const

export function createTenants(foreign: (tenant: Tenant) => readonly string[]): readonly Tenant[] {
  return NAMES.map((name) => {
    const directory = join(PLACES.cwd, name)
    const caller: Caller = {
      subject: `somebody of ${name}`,
      tenantId: name,
      authenticated: true,
      operator: false,
      directoryPrefixes: [directory],
    }
    function hear(event: SeenEvent): void {
      const made = event.type === 'session.created' ? event.data['info'] : undefined
      if (made?.directory === directory) tenant.family.add(made.id)
      noteLeaks(tenant, foreign(tenant), event.type, event)
    }
    const tenant: Tenant = {
      caller,
      directory,
      sessions: [],
      family: new Set(),
      leaks: [],
      reader: createReader(hear, caller),
      renew: () => void (tenant.reader = createReader(hear, caller)),
    }
    return tenant
  })
}

/** I1 */
export function noteLeaks({ leaks }: Tenant, foreign: readonly string[], where: string, what: unknown): void {
  const text = JSON.stringify(what) ?? ''
  const named = foreign.find((each) => text.includes(each))
  if (named !== undefined) leaks.push(`${where} names ${named}`)
}
