// Holds subsystems c.8.
import { expect, test } from 'vitest'
import { createCredentialFile } from '../../../../src/actors/provider/credentials/credential-file.js'
import { withConnection } from '../../../../src/actors/provider/credentials/document.js'
import { subscriptionUsage } from '../../../../src/actors/provider/sign-in/usage.js'
import type { GuardedRequest } from '../../../../src/ports/effects.js'
import type { AuthInfo } from '../../../../src/protocol/provider/connection.js'
import { createFakeEffects } from '../../../fakes/effects.js'

const USAGE = {
  plan_type: 'plus',
  rate_limit: {
    primary_window: { used_percent: 120, limit_window_seconds: 18_000, reset_at: 1_800_000_000 },
    secondary_window: { used_percent: 12.5, limit_window_seconds: 604_800, reset_at: null },
  },
  code_review_rate_limit: { primary_window: { used_percent: -1, limit_window_seconds: 60 } },
}

/** `answers` by the token that asks. */
async function usage(answers: Readonly<Record<string, () => Response>>, usageUrl: string | undefined = 'https://vendor.example/usage') {
  const asked: { address: string; headers: GuardedRequest['headers'] }[] = []
  const effects = createFakeEffects()
  const network: typeof effects.network = {
    ...effects.network,
    async guardedFetch(address, { headers = {} }) {
      asked.push({ address, headers })
      return {
        response: answers[headers['authorization']?.replace('Bearer ', '') ?? '']?.() ?? new Response(null, { status: 401 }),
        url: address,
      }
    },
  }
  const file = createCredentialFile(effects)
  const credentials: readonly AuthInfo[] = [
    { type: 'oauth', access: 'one', refresh: '', expires: 0, accountId: 'acc' },
    { type: 'api', key: 'sk-planted' },
    { type: 'oauth', access: 'two', refresh: '', expires: 0 },
    { type: 'oauth', access: 'three', refresh: '', expires: 0 },
  ]
  await file.change((document) => [
    credentials.reduce(
      (before, credential, index) =>
        withConnection(before, {
          providerId: 'openai',
          connectionId: `conn_${index}`,
          label: String(index),
          workspaceId: undefined,
          credential,
          endpoint: undefined,
        }),
      document,
    ),
    undefined,
  ])
  const renewal = { secret: (_provider: string, { secret }: { readonly secret: string }) => Promise.resolve(secret) }
  const settings = () => Promise.resolve({ clientId: 'c', ...(usageUrl !== undefined && { usageUrl }) })
  return { asked, ...(await subscriptionUsage({ effects: { ...effects, network }, file, renewal, settings }, undefined)) }
}

test('each connection has its entry, in order; what goes wrong with one stays with it', async () => {
  const { accounts, asked } = await usage({
    one: () => Response.json(USAGE),
    two: () => new Response('<html>', { status: 200 }),
  })
  expect(accounts.map(({ connection_id, auth_type, is_default }) => [connection_id, auth_type, is_default])).toEqual([
    ['conn_0', 'oauth', true],
    ['conn_1', 'api', false],
    ['conn_2', 'oauth', false],
    ['conn_3', 'oauth', false],
  ])
  expect(accounts[0]).toMatchObject({
    plan_type: 'plus',
    error: null,
    windows: [
      { label: '5-hour', used_percent: 100, reset_at: 1_800_000_000, limit_window_seconds: 18_000 },
      { label: 'Weekly', used_percent: 12.5, reset_at: null },
      { label: 'Code review Primary', used_percent: 0, reset_at: null, limit_window_seconds: 60 },
    ],
  })
  expect(accounts.map(({ error }) => error)).toEqual([
    null,
    'Usage is known of subscriptions only, not of keys.',
    'Usage cannot be told: the provider answered no JSON.',
    'Usage cannot be told: status 401.',
  ])
  expect(asked[0]).toMatchObject({ address: 'https://vendor.example/usage', headers: { 'chatgpt-account-id': 'acc' } })
  expect(JSON.stringify(asked)).not.toContain('sk-planted')
})

test('an answer that is too large, and an address that is none, are told', async () => {
  const large = await usage({ one: () => new Response(`"${'x'.repeat(300 * 1024)}"`) })
  expect(large.accounts[0]?.error).toBe('Usage cannot be told: more than 262144 bytes.')
  const wrong = await usage({}, 'http://vendor.example/usage')
  expect(wrong.accounts[0]?.error).toContain('neither https nor on this machine')
  expect(wrong.asked).toEqual([])
})
