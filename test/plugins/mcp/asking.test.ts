/** Answers of authorization servers that come without end, or that are what they were sent. */
import { expect, test } from 'vitest'
import { boundedAsking } from '../../../src/plugins/mcp/oauth/asking.js'
import { createSecrets } from '../../../src/plugins/mcp/link/secrets.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

const ADDRESS = 'https://as.example/token'

test.each([
  ['that are whole', () => new Response('{"access_token":"a"}'), '{"access_token":"a"}'],
  ['without a body', () => new Response(null, { status: 204 }), ''],
  [
    'that refuse',
    () => new Response('{"error":"invalid_grant","error_description":"it is over","x":1}', { status: 400 }),
    '{"error":"invalid_grant","error_description":"it is over"}',
  ],
  [
    'that refuse at length',
    () => Response.json({ error: 'e'.repeat(9000) }, { status: 400 }),
    `{"error":"${'e'.repeat(LIMITS.mcp.authReason)}…"}`,
  ],
])('answers %s come through', async (_name, answer, text) => {
  const ask = boundedAsking(createFakeEffects(), () => Promise.resolve(answer()))
  const got = await ask(ADDRESS)
  expect([got.status, await got.text()]).toEqual([answer().status, text])
})

test.each(['c.o.d.e', '<p>code</p>', 'CODE', btoa('code'), '["code"]', '{"error":{"code":1}}', '{"message":"code"}', ''])(
  'nothing is told of a refusal that is %j',
  async (body) => {
    const ask = boundedAsking(createFakeEffects(), () => Promise.resolve(new Response(body, { status: 500 })))
    expect(await (await ask(ADDRESS)).text()).toBe('')
  },
)

test.each(['before its headers', 'within its body'])('an answer that stops %s ends with its time', async (where) => {
  const effects = createFakeEffects()
  let begun: () => void = () => undefined
  const waits = new Promise<void>((resolve) => (begun = resolve))
  const ask = boundedAsking(effects, (_address, { signal } = {}) => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(' '))
        begun()
        return new Promise(() => undefined)
      },
    })
    if (where === 'within its body') return Promise.resolve(new Response(body))
    begun()
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  const asked = ask(ADDRESS).catch((error: unknown) => error)
  await waits
  effects.clock.advance(LIMITS.mcp.discovery + 1)
  expect(await asked).toMatchObject({ message: expect.stringContaining('it took too long') as string })
})

test('a secret is hidden in every form it is sent in', () => {
  const secret = "a~b!c*d'e(f)g h+i/j"
  const { note, hide } = createSecrets()
  note([secret])
  for (const form of [secret, encodeURIComponent(secret), new URLSearchParams({ code: secret }).toString(), JSON.stringify(secret)])
    expect(hide(`said ${form}`)).toContain('[redacted]')
})
