/** Credentials of the hosting example, and what a request to its broker is about. */
import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { targetOf } from '../../../examples/hosting/src/broker/target.js'
import { createGrants } from '../../../examples/hosting/src/credentials/grant.js'
import { createSigner } from '../../../examples/hosting/src/credentials/worker-token.js'
import { createModelCredentials, createWorkerBearers } from '../../../examples/hosting/src/models/credentials.js'

const owner = { tenant: 'acme', workspace: 'alpha' }
const key = Buffer.alloc(32, 1)

describe('a grant', () => {
  const claims = { owner, generation: 1, subject: 'ada', actorType: 'human' as const, scopes: ['agent:read' as const], expiresAt: 100 }
  const grants = createGrants(key)
  const sealed = grants.seal(claims)

  test('opens until its end, and not at it', () => {
    expect([grants.open(sealed, 99), grants.open(sealed, 100), grants.open(sealed, 99)]).toEqual([claims, undefined, claims])
  })

  test('is of one key, and of one kind', () => {
    expect(createGrants(Buffer.alloc(32, 2)).open(sealed, 1)).toBeUndefined()
    const other = { owner, generation: 1, runtimeId: 'rt', expiresAt: 100 }
    expect(grants.open(createWorkerBearers(key).seal(other), 1)).toBeUndefined()
    expect(createWorkerBearers(key).open(createModelCredentials(key).seal({ ...other, provider: 'p' }), 1)).toBeUndefined()
  })

  test('has one spelling: no change of a character opens anything', () => {
    const changed = Array.from(sealed, (_, at) =>
      ['A', 'z', '_', '.', '=', ' '].map((other) => sealed.slice(0, at) + other + sealed.slice(at + 1)),
    ).flat()
    const others = [...changed, `${sealed}=`, `${sealed}.`, ` ${sealed}`, sealed.slice(0, -1), '', '.', '..'].filter(
      (each) => each !== sealed,
    )
    expect(others.filter((each) => grants.open(each, 1) !== undefined)).toEqual([])
  })
})

test('a token of a worker is signed by the seed that its key belongs to', () => {
  const signer = createSigner(Buffer.alloc(32, 3))
  const token = signer.token({
    version: 1,
    tenantId: 'acme',
    workspaceId: 'alpha',
    runtimeId: 'rt-1',
    runtimeGeneration: 1,
    subject: 'ada',
    actorType: 'human',
    directoryPrefix: '/workspace',
    scopes: ['agent:read'],
    issuedAt: 1,
    expiresAt: 2,
  })
  const signed = token.slice(0, token.lastIndexOf('.'))
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: signer.verificationKey }, format: 'jwk' })
  expect(verify(null, Buffer.from(signed), publicKey, Buffer.from(token.slice(signed.length + 1), 'base64url'))).toBe(true)
  expect(() => createSigner(Buffer.alloc(31))).toThrow('31 bytes')
})

describe('a request to the broker', () => {
  test('names a workspace and a path of the API', () => {
    expect(targetOf('/t/acme/w/alpha/v2/sessions?limit=1')).toEqual({ key: owner, path: '/v2/sessions?limit=1', hasTicket: false })
    expect(targetOf('/t/acme/w/alpha/v2/plugins/dev.svc.pty/pty_1/connect?ticket=t')).toMatchObject({ hasTicket: true })
    expect(targetOf('/t/acme/w/alpha/v2/plugins/dev.svc.pty/pty_1/connect?ticket=')).toMatchObject({ hasTicket: false })
    expect(targetOf('/t/acme/w/alpha/v2/sessions?ticket=t')).toMatchObject({ hasTicket: false })
  })

  test.each([
    '/v2/sessions',
    '/t/acme/w/alpha/v1/sessions',
    '/t/acme/w/alpha/v2',
    '/t/acme/w/alpha/v2/../../../w/beta/v2/sessions',
    '/t/acme/w/alpha/v2/%2e%2e/x',
    '/t/acme/w/alpha/v2/a%2Fb',
    '/t/acme/w/a%2Fb/v2/sessions',
    '/t//w/alpha/v2/sessions',
    'http://elsewhere/t/acme/w/alpha/v2/sessions',
    '/t/acme/w/alpha/v2/x\\..\\y',
  ])('is none: %s', (url) => expect(targetOf(url)).toBeUndefined())
})
