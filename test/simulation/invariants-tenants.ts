/** What holds of tenants: each has its own, and nothing else. */
import type { Invariant } from './invariants.js'
import { noteLeaks, type Tenant } from './tenants.js'
import type { World } from './world.js'

export const TENANT_INVARIANTS: readonly Invariant[] = [
  { says: 'a tenant hears and reads nothing of another', when: 'always', fault: nothingOfOthers },
  { says: 'a tenant has what is its own', when: 'always', fault: hasItsOwn },
  { says: 'a tenant that folded the events has what REST answers', when: 'calm', fault: foldIsRest },
]

const PAGE = 100

function nothingOfOthers({ life, tenants, foreignTo }: World): string | undefined {
  for (const tenant of tenants) {
    if (tenant.sessions.length > 0) {
      const { sessions, interactions, events } = life.runtime
      const foreign = foreignTo(tenant)
      noteLeaks(tenant, foreign, 'the list of sessions', listOf({ life }, tenant))
      noteLeaks(tenant, foreign, 'what is busy', sessions.status(tenant.caller))
      noteLeaks(tenant, foreign, 'what asks', interactions.permissions(tenant.caller, undefined))
      noteLeaks(tenant, foreign, 'what is asked', interactions.questions(tenant.caller, undefined))
      noteLeaks(tenant, foreign, 'what is under way', events.activity(tenant.caller))
    }
    const [leak] = tenant.leaks
    if (leak !== undefined) return `${tenant.caller.tenantId}: ${leak}`
  }
  return undefined
}

function listOf({ life }: Pick<World, 'life'>, { caller }: Tenant): string {
  return life.runtime.sessions.list(caller, { limit: PAGE }).rawJson
}

function hasItsOwn({ life, tenants }: World): string | undefined {
  for (const tenant of tenants) {
    if (tenant.sessions.length === 0) continue
    const list = listOf({ life }, tenant)
    const lost = tenant.sessions.find((id) => !list.includes(id))
    if (lost !== undefined) return `${lost} of ${tenant.caller.tenantId} is in no list`
  }
  return undefined
}

function foldIsRest({ life, tenants }: World): string | undefined {
  for (const { caller, sessions, reader } of tenants) {
    for (const id of reader.isThere ? sessions : []) {
      const rest = JSON.stringify(JSON.parse(life.runtime.sessions.context(id).rawJson))
      if (JSON.stringify(reader.transcripts.messages(id)) !== rest) return `${id} of ${caller.tenantId} is not what it heard`
    }
  }
  return undefined
}
