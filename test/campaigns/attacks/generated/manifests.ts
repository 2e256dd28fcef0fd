/** Manifests that are wrong, or hostile to whoever reads, shows or compares them. */
import { writeTar } from '../../../../src/cli/commands/plugin/install/tar-write.js'
import type { Choices } from './random.js'
import { LUA, manifestOf, type Offered } from './offered.js'

type Text = string | Uint8Array
type Make = (choices: Choices) => object | Text

const TAKEN = 'taken'
const NOT =
  /cannot be used|there is no "agent"|is a package for editors|belongs to the built-in|does not exist|must be|is written for|has an id|is an id of|is required|runs on/

/** A package of which nothing but the manifest is in question. */
function offered(name: string, outcome: Offered['outcome'], make: Make): Offered {
  return {
    name: `manifest: ${name}`,
    outcome,
    make(choices) {
      const made = make(choices)
      const text = typeof made === 'string' || made instanceof Uint8Array ? made : JSON.stringify(made)
      const content = typeof text === 'string' ? Buffer.from(text) : text
      return {
        kind: 'archive',
        bytes: writeTar([
          { path: 'package/svc-plugin.json', executable: false, content },
          { path: 'package/agent.lua', executable: false, content: Buffer.from(LUA) },
        ]),
      }
    },
  }
}

const nested = (depth: number, [open, close]: readonly [string, string]) => `${open.repeat(depth)}1${close.repeat(depth)}`
const withText = (from: string, to: string) => JSON.stringify(manifestOf()).replace(from, to)

const FORMS: readonly (readonly [string, Offered['outcome'], Make])[] = [
  ['nothing', NOT, () => ''],
  ['no JSON', NOT, ({ word }) => `{${word()}}`],
  ['a list', NOT, () => '[]'],
  ['null', NOT, () => 'null'],
  ['a text', NOT, ({ word }) => JSON.stringify(word())],
  ['a number without end', NOT, () => '9'.repeat(100_000)],
  ['a mark of its byte order', NOT, () => `\u{feff}${JSON.stringify(manifestOf())}`],
  ['UTF-16', NOT, () => Buffer.from(JSON.stringify(manifestOf()), 'utf16le')],
  ['no UTF-8', NOT, ({ number }) => Buffer.from([0x7b, number(0x80, 0xff), 0x7d])],
  ['a NUL in the middle', NOT, () => withText('"name"', '\0"name"')],
  ['a comma too much', NOT, () => withText('}}', ',}}')],
  ['a comment', NOT, () => `/* it is fine */ ${JSON.stringify(manifestOf())}`],
  ['two documents', NOT, () => JSON.stringify(manifestOf()).repeat(2)],
  ['lists in lists', NOT, ({ number }) => withText('"Offered"', nested(number(65, 60_000), ['[', ']']))],
  ['objects in objects', NOT, ({ number }) => `{"a":${nested(number(65, 30_000), ['{"a":', '}'])}}`],
  ['a key that stands twice', NOT, () => withText('"name":"Offered"', '"name":"a","name":"b"')],
  ['a key that stands twice, escaped', NOT, () => withText('"runtime"', '"runtim\\u0065":"process","runtime"')],
  ['300,000 bytes', NOT, ({ number }) => manifestOf({}, { metadata: 'x'.repeat(262_145 + number(0, 50_000)) })],
  ['50,000 keys', NOT, () => manifestOf({}, { metadata: Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [at, 1])) })],
  ['a prototype', TAKEN, () => withText('"name"', '"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"name"')],
  ['half a character', TAKEN, () => withText('Offered', '\\ud800')],
  ['a number beyond all', NOT, () => withText('"name"', '"metadata":1e999,"name"')],
]

const IDS: readonly (readonly [string, Offered['outcome']])[] = [
  ['', NOT],
  ['todo', NOT],
  ['dev.example-', NOT],
  ['Dev.Example', NOT],
  ['dev..example', NOT],
  ['.dev.example', NOT],
  ['../../outside', NOT],
  ['dev.example/../outside', NOT],
  ['dev.example\\outside', NOT],
  ['dev.svc.files', NOT],
  ['dev.svc.anything', NOT],
  ['workspace.tools', NOT],
  ['user.tools', NOT],
  ['dev.example.\u202eeliv', NOT],
  ['dev.example.\u001b[31m', NOT],
  ['dev.example.x\n', NOT],
  [' dev.example.x', NOT],
  ['dev.example.ü', NOT],
  ['dev.example.е', NOT], // the letter is Cyrillic
  [`${'a'.repeat(300)}.b`, NOT],
  [`a${'.b'.repeat(500)}`, NOT],
  ['constructor.prototype', TAKEN],
  ['con.nul', TAKEN],
  ['tostring.valueof', TAKEN],
]

const FIELDS: readonly (readonly [string, Offered['outcome'], Make])[] = [
  ['an API of another kind', NOT, () => manifestOf({}, { apiVersion: '1' })],
  ['an API to come', NOT, ({ number }) => manifestOf({}, { apiVersion: number(2, 9e9) })],
  ['two APIs', NOT, () => manifestOf({}, { api_version: 1 })],
  ['a platform as a text', NOT, () => manifestOf({}, { platforms: 'linux' })],
  ['another platform', NOT, () => manifestOf({}, { platforms: ['windows'] })],
  ['another runtime', NOT, ({ one }) => manifestOf({ runtime: one(['wasm', '', 1, ['lua'], '__proto__']) })],
  ['another scope', NOT, ({ one }) => manifestOf({ scope: one(['galaxy', '', 1, 'Workspace', 'constructor']) })],
  ['all capabilities', NOT, () => manifestOf({ capabilities: ['*'] })],
  ['capabilities of the prototype', NOT, () => manifestOf({ capabilities: ['constructor', '__proto__'] })],
  ['capabilities as an object', NOT, () => manifestOf({ capabilities: { network: true } })],
  ['ten thousand capabilities', NOT, () => manifestOf({ capabilities: Array.from({ length: 10_000 }, (_, at) => `network${at}`) })],
  [
    'an entrypoint outside',
    NOT,
    ({ one }) =>
      manifestOf({
        entrypoint: one(['../agent.lua', '/etc/passwd', './agent.lua', 'a/../../x', 'agent.lua/', 'C:agent.lua', '\\\\server\\agent.lua']),
      }),
  ],
  [
    'an entrypoint that is none',
    NOT,
    ({ one }) => manifestOf({ entrypoint: one(['', 'agent.lua\0', 'AGENT.LUA', 'none.lua', ' agent.lua']) }),
  ],
  ['a command without words', NOT, () => manifestOf({ runtime: 'process', entrypoint: '', command: [] })],
  ['a command as a text', NOT, () => manifestOf({ runtime: 'process', command: 'rm -rf /' })],
  ['an agent that is a list', NOT, () => manifestOf({}, { agent: [] })],
  ['no agent', NOT, () => manifestOf({}, { agent: null })],
  [
    'hosts that are none',
    /./,
    ({ one }) =>
      manifestOf({
        capabilities: ['network'],
        network: { hosts: [one(['', ' ', 'a b', 'http://x', '*', '*.*', 'x/y', 'x\r\ny', 'x@y'])] },
      }),
  ],
  [
    'a secret in another header',
    /./,
    ({ one }) =>
      manifestOf({
        capabilities: ['secret-use', 'network'],
        secrets: [
          {
            alias: 'a',
            purpose: 'p',
            hosts: ['x.example'],
            header: one(['host', 'content-length', 'x\r\ny', '', 'transfer-encoding', 'connection']),
          },
        ],
      }),
  ],
  [
    'a secret with a line in its prefix',
    /./,
    () =>
      manifestOf({
        capabilities: ['secret-use', 'network'],
        secrets: [{ alias: 'a', purpose: 'p', hosts: ['x.example'], prefix: 'Bearer \r\nx: ' }],
      }),
  ],
  [
    'a secret twice',
    /./,
    () =>
      manifestOf({
        capabilities: ['secret-use'],
        secrets: [
          { alias: 'a', purpose: 'p' },
          { alias: 'a', purpose: 'q' },
        ],
      }),
  ],
  ['secrets of the prototype', /./, () => manifestOf({ capabilities: ['secret-use'], secrets: [{ alias: '__proto__', purpose: 'p' }] })],
  ['settings that are no object', NOT, ({ one }) => manifestOf({ settings: one<unknown>(['x', [], 1]) })],
  [
    'settings that are no schema',
    TAKEN,
    ({ one }) => manifestOf({ settings: one<unknown>([{ type: 'objekt' }, { $ref: 'http://127.0.0.1:1/x' }, { $ref: '#' }]) }),
  ],
  [
    'dependencies of another kind',
    NOT,
    ({ one }) => manifestOf({}, { dependencies: one<unknown>(['dev.example.x', [1], { a: 1 }, [null]]) }),
  ],
  ['a dependency on itself', TAKEN, ({ one }) => manifestOf({}, { dependencies: [one(['dev.example.offered', '../x', ''])] })],
  [
    'a name that a terminal obeys',
    TAKEN,
    ({ one }) =>
      manifestOf(
        {},
        {
          name: one([
            '\u001b]0;owned\u0007',
            '\u001b[2J\u001b[H',
            '\u202egnihton',
            '\r\nadded dev.example.other',
            '\u009b31m',
            '\u0085\u2028',
          ]),
        },
      ),
  ],
  ['a version that a terminal obeys', TAKEN, ({ one }) => manifestOf({}, { version: one(['\u001b[8m', '1.0\n2.0', '\u2067x']) })],
  ['a name of 100,000 characters', TAKEN, ({ word }) => manifestOf({}, { name: word(8).repeat(12_500) })],
  [
    'a purpose that a terminal obeys',
    TAKEN,
    () =>
      manifestOf({ capabilities: ['secret-use'], secrets: [{ alias: 'a', purpose: '\u001b[31mthe password of your bank\u001b[0m\n' }] }),
  ],
]

export const MANIFESTS: readonly Offered[] = [
  ...FORMS.map(([name, outcome, make]) => offered(name, outcome, make)),
  ...IDS.map(([id, outcome]) =>
    offered(`the id ${JSON.stringify(id.length > 40 ? `${id.slice(0, 8)}… of ${id.length}` : id)}`, outcome, () => manifestOf({}, { id })),
  ),
  ...FIELDS.map(([name, outcome, make]) => offered(name, outcome, make)),
]
