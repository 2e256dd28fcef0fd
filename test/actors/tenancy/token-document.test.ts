// Holds subsystems d.3; threat-model T1.
import { describe, expect, test } from 'vitest'
import { readTokenDocument } from '../../../src/actors/tenancy/tenants/token-document.js'
import { QUOTAS } from '../../../src/protocol/caller.js'

const SECRET = 'tok-very-secret'
const document = (...tokens: unknown[]) => JSON.stringify({ tokens }, null, 1)
const entry = (more: object = {}) => ({ token: SECRET, tenantId: 'acme', directoryPrefixes: ['/srv/acme'], ...more })

test('a document of tokens is read; without directories there are none', () => {
  expect(readTokenDocument(document(entry(), { token: 'other', tenantId: 'b:C_1.x-' }))).toEqual({
    ok: true,
    tokens: [entry(), { token: 'other', tenantId: 'b:C_1.x-', directoryPrefixes: [] }],
  })
  const quotas = Object.fromEntries(QUOTAS.map((name, at) => [name, at]))
  expect(readTokenDocument(document(entry(quotas)))).toEqual({ ok: true, tokens: [entry(quotas)] })
  expect(readTokenDocument('{"tokens":[]}')).toEqual({ ok: true, tokens: [] })
  expect(readTokenDocument(document(entry({ directoryPrefixes: ['/'] })))).toMatchObject({ ok: true })
})

const long = 'x'.repeat(4097)
describe('a document that is not', () => {
  test.each<readonly [string, number, RegExp]>([
    ['', 1, /^the document is not JSON|^is not JSON/],
    ['{\n"tokens": [\n}', 3, /is not JSON/],
    ['{"tokens":[],}', 1, /is not JSON/],
    ['[]', 1, /^the document has to be of type object/],
    ['{}', 1, /^tokens has to be of type array/],
    ['{\n"tokens": [],\n"more": 1}', 3, /^more is no field/],
    ['{\n"__proto__": {}, "tokens": []}', 2, /^__proto__ is no field/],
    [document('x'), 3, /^tokens\[0\] has to be of type object/],
    [document(entry({ extra: 1 })), 9, /^tokens\[0\]\.extra is no field/],
    [document(entry({ token: '' })), 4, /^tokens\[0\]\.token has to be printable ASCII/],
    [document(entry({ token: 'two words' })), 4, /printable ASCII/],
    [document(entry({ token: 'ünïcode' })), 4, /printable ASCII/],
    [document(entry({ token: long })), 4, /^tokens\[0\]\.token has more than 4096 characters/],
    [document(entry({ token: 'svc-daemon-v1.a.b' })), 4, /may not begin with svc-daemon-v1\./],
    [document(entry({ token: 7 })), 4, /^tokens\[0\]\.token has to be of type string/],
    [document({ tenantId: 'a' }), 3, /^tokens\[0\]\.token has to be of type string/],
    [document(entry({ tenantId: '' })), 5, /^tokens\[0\]\.tenantId has to be 1 to 128/],
    [document(entry({ tenantId: 'a/b' })), 5, /1 to 128/],
    [document(entry({ tenantId: '..' })), 5, /may not be/],
    [document(entry({ tenantId: 'local' })), 5, /may not be "local"/],
    [document(entry({ tenantId: 'a'.repeat(129) })), 5, /1 to 128/],
    [document(entry({ directoryPrefixes: '/srv' })), 6, /^tokens\[0\]\.directoryPrefixes has to be of type array/],
    [document(entry({ directoryPrefixes: ['/ok', 'srv'] })), 8, /^tokens\[0\]\.directoryPrefixes\[1\] has to be an absolute path/],
    [document(entry({ directoryPrefixes: [''] })), 7, /absolute path/],
    ...['/a/../b', '/a/./b', '/a//b', '/a/', '//', '/a\u0000'].map(
      (path) => [document(entry({ directoryPrefixes: [path] })), 7, /has to be written without/] as const,
    ),
    [document(entry({ directoryPrefixes: Array.from({ length: 257 }, (_, at) => `/${at}`) })), 6, /more than 256 directories/],
    ...QUOTAS.flatMap(
      (field) =>
        [
          [document(entry({ [field]: -1 })), 9, new RegExp(`^tokens\\[0\\]\\.${field} has to be a (?:whole )?number, 0 or more`)],
          ...(field === 'modelCostPerDay'
            ? []
            : [[document(entry({ [field]: 1.5 })), 9, new RegExp(`^tokens\\[0\\]\\.${field} has to be a whole number`)] as const]),
          [document(entry({ [field]: '1' })), 9, new RegExp(`^tokens\\[0\\]\\.${field} has to be of type number`)],
        ] as const,
    ),
    [document(entry(), entry({ tenantId: 'b' })), 11, /^tokens\[1\]\.token is the token of tokens\[0\], too/],
  ])('%# is refused as a whole, with line and reason, and no token in it', (text, line, reason) => {
    const read = readTokenDocument(text)
    expect(read).toEqual({ ok: false, line, reason: expect.stringMatching(reason) as string })
    expect(JSON.stringify(read)).not.toContain(SECRET)
  })
})
