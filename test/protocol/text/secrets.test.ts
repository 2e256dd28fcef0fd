import { expect, it } from 'vitest'
import { isSecretName, publicDocument, publicText } from '../../../src/protocol/text/secrets.js'

it.each([
  'apiKey',
  'api_key',
  'x-api-key',
  'accessKey',
  'githubToken',
  'auth_token',
  'token',
  'key',
  'clientSecret',
  'Authorization',
  'DB_PASSWORD',
  'set-cookie',
  'npm_auth',
])('%s is named like a secret', (name) => expect(isSecretName(name)).toBe(true))

it.each(['maxTokens', 'max_tokens', 'tokens', 'auth', 'keyboard', 'keys', 'baseURL', 'model', 'author', 'monkey'])('%s is not', (name) => {
  expect(isSecretName(name)).toBe(false)
})

it('addresses lose their logins, and parameters named like secrets their values', () => {
  expect(publicText('see https://ada:p@ss@host.test/x?a=1&api_key=sk-1#f and --token=abc --model=m')).toBe(
    'see https://host.test/x?a=1&api_key=#f and --token= --model=m',
  )
  expect(publicText('mail ada@host.test; a/b@c; http://host.test/@scope/x')).toBe('mail ada@host.test; a/b@c; http://host.test/@scope/x')
})

it('a configuration keeps its names and its rules, and none of its credentials at any depth', () => {
  const document = {
    permission: { read: { '*secret*': 'deny' } },
    agent: {
      secret: { prompt: 'p', options: { apiKey: 'S', nested: [{ token: 'S', shown: 1 }] }, permission: { bash: { 'token*': 'ask' } } },
    },
    provider: {
      key: { env: ['A_KEY'], options: { apiKey: 'S', headers: { 'x-a': 'S' }, baseURL: 'https://u:S@h.test/v1?k=S', max_tokens: 5 } },
    },
    mcp: { one: { url: 'https://u:S@h.test/', headers: { a: 'S' }, environment: { ANY: 'S' } } },
    plugins: { token: { enabled: true, options: { serve: ['run', '--token=S'], env: { ANY: 'S' }, config: { password: 'S' } } } },
  }
  expect(publicDocument(document)).toEqual({
    permission: { read: { '*secret*': 'deny' } },
    agent: { secret: { prompt: 'p', options: { nested: [{ shown: 1 }] }, permission: { bash: { 'token*': 'ask' } } } },
    provider: { key: { env: ['A_KEY'], options: { baseURL: 'https://h.test/v1', max_tokens: 5 } } },
    mcp: { one: { url: 'https://h.test/' } },
    plugins: { token: { enabled: true, options: { serve: ['run', '--token='], config: {} } } },
  })
})

it('long text is looked at in one pass', () => {
  expect(publicText('a.'.repeat(500_000))).toHaveLength(1_000_000)
})
