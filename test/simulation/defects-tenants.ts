/** Defects of what tenants see of each other. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Defect } from './life.js'
import type { History, Step } from './history.js'
import { create, prompt, says, wait } from './tours/steps.js'

export const TENANT_DEFECTS: Readonly<Record<string, () => Defect>> = {
  'a subscriber that hears as if it were local': () => ({
    runtime: (runtime) => ({
      ...runtime,
      events: { ...runtime.events, subscribe: (_, query, sink) => runtime.events.subscribe(TRUSTED_CALLER, query, sink) },
    }),
  }),
  'a list of what is busy for everybody': () => {
    let busy = {}
    return {
      runtime: (runtime) => ({
        ...runtime,
        sessions: {
          ...runtime.sessions,
          status: (caller) => ({ ...(caller === TRUSTED_CALLER ? (busy = {}) : busy), ...(busy = runtime.sessions.status(caller)) }),
        },
      }),
    }
  },
  'a session that its tenant does not find': () => ({
    runtime: (runtime) => ({
      ...runtime,
      sessions: {
        ...runtime.sessions,
        list: (caller, query) =>
          caller === TRUSTED_CALLER ? runtime.sessions.list(caller, query) : { ...runtime.sessions.list(caller, query), rawJson: '[]' },
      },
    }),
  }),
}

const has = (tenant: number): Step => ({ do: 'tenant', tenant, how: 'creates' })
const asks = (tenant: number, name: number): Step => ({ do: 'tenant-asks', tenant, name, plays: [{ as: 'hangs', words: 1 }, says] })
const both = [create, has(0), has(1), wait(), asks(0, 1), asks(1, 2), wait()]

export const TENANT_SHOWN: Readonly<Record<string, readonly [says: string, history: History]>> = {
  'a subscriber that hears as if it were local': ['a tenant hears and reads nothing of another', [create, wait(), prompt(1), wait()]],
  'a list of what is busy for everybody': ['a tenant hears and reads nothing of another', both],
  'a session that its tenant does not find': ['a tenant has what is its own', both],
}
