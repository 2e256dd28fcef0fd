import { expect, test } from 'vitest'
import { expanded, isLiteral, variableOf } from '../../../src/actors/provider/catalog/variables.js'
import { findUnsupported } from '../../../src/actors/resource/config/config-unsupported.js'
import { DIRECTORY, setUp } from './setup.js'

const provider = {
  mine: { npm: '@ai-sdk/openai-compatible', options: { baseURL: 'http://{env:HOST}:1/v1', apiKey: '{env:MINE_KEY}' }, models: { m: {} } },
}

test('{env:NAME} in an address, a header or a key is the variable of the server', async () => {
  expect(expanded('a {env:X}{env:NO} {env:1} {file:/x}', { X: 'b' })).toBe('a b {env:1} {file:/x}')
  expect([variableOf('{env:X}'), variableOf('x{env:X}'), isLiteral('{env:X}'), isLiteral('x{env:X}'), isLiteral(1)]).toEqual([
    'X',
    undefined,
    false,
    true,
    false,
  ])
  const { providers } = setUp({ provider }, { env: { HOST: 'model.example', MINE_KEY: 'k' } })
  expect(await providers.endpoint('mine')).toBe('http://model.example:1/v1')
  expect((await providers.list(DIRECTORY)).connected).toContain('mine')
})

test('a variable that is not set is named where the key is missing', async () => {
  const { providers } = setUp({ provider }, { env: {} })
  await expect(providers.resolve(DIRECTORY, { providerId: 'mine', id: 'm' })).rejects.toThrow('MINE_KEY set')
})

test('nearly right keys of a provider are answered with what was meant', () => {
  const found = findUnsupported({ provider: { mine: { model: {}, options: { baseUrl: 'http://x', apikey: 'k', top_k: 3 } } } })
  expect(found.map(({ path, reason }) => `${path.join('.')}: ${reason}`)).toEqual([
    'provider.mine.model: it is not a key of this place; did you mean "models"?',
    'provider.mine.options.baseUrl: it is sent to the model as it is; did you mean "baseURL"?',
    'provider.mine.options.apikey: it is sent to the model as it is; did you mean "apiKey"?',
  ])
})
