/** What `svc audit` takes. */
import { LIMITS } from '../../../protocol/limits.js'
import { JSON_OUT, type Page } from '../../line/page.js'

export const AUDIT = {
  name: 'audit',
  summary: 'who asked the server for what: requests that came with a credential',
  words: [],
  options: {
    tenant: { type: 'text', value: 'name', help: 'only of this tenant; "local" is the operator', otherwise: 'all of them' },
    since: {
      type: 'text',
      value: 'time',
      help: 'from then on: 30m, 12h, 7d, or a time such as 2026-05-04T10:00',
      otherwise: 'all that are kept',
    },
    limit: {
      type: 'number',
      value: 'number',
      least: 1,
      most: LIMITS.audit.pageMax,
      help: 'the latest so many',
      otherwise: String(LIMITS.audit.pageDefault),
    },
    json: { ...JSON_OUT, help: 'print the entries as JSON' },
  },
  examples: [
    ['svc audit --tenant acme --since 1h', 'what acme asked for in the last hour, newest first'],
    ['svc audit --json --limit 1000', 'the last thousand requests, for a program'],
  ],
  notes: [
    'Read from the state directory itself, so that all tenants are seen, with a server or without one; over HTTP each caller sees its own (GET /v2/audit). Queries of addresses are not kept. Without a credential nobody is known: such requests are in no entry.',
  ],
} as const satisfies Page

export interface AuditOptions {
  readonly tenant: string | undefined
  /** Unix ms. */
  readonly since: number | undefined
  readonly limit: number
  readonly json: boolean
}
