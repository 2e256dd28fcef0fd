/** Archives that say one thing and hold another, or hold what is no plain file; and folders of the same kind. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeTar } from '../../../../src/cli/commands/plugin/install/tar-write.js'
import { LUA, manifestOf, type Offered } from './offered.js'
import type { Choices } from './random.js'

interface Entry {
  readonly name: string | Uint8Array
  readonly type?: string
  readonly content?: Uint8Array | string
  /** What the header says, where that is something else. */
  readonly size?: number | Uint8Array
  readonly link?: string
  readonly mode?: string
  readonly sum?: string
}

const BLOCK = 512
const text = (value: string | Uint8Array) => (typeof value === 'string' ? Buffer.from(value) : value)

/** An entry as it stands, whatever it says. */
function entry({ name, type = '0', content = '', size, link = '', mode = '0000644', sum }: Entry): Uint8Array {
  const bytes = text(content)
  const header = new Uint8Array(BLOCK)
  const put = (at: number, value: string | Uint8Array, length: number) => header.set(text(value).subarray(0, length), at)
  put(0, name, 100)
  put(100, mode, 8)
  put(124, size instanceof Uint8Array ? size : (size ?? bytes.length).toString(8).padStart(11, '0'), 12)
  put(156, type, 1)
  put(157, link, 100)
  put(257, 'ustar\0', 6)
  put(148, '        ', 8)
  put(
    148,
    sum ??
      `${header
        .reduce((all, byte) => all + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
    8,
  )
  return Buffer.concat([header, bytes, new Uint8Array((BLOCK - (bytes.length % BLOCK)) % BLOCK)])
}

const MANIFEST: Entry = { name: 'package/svc-plugin.json', content: JSON.stringify(manifestOf()) }
const CODE: Entry = { name: 'package/agent.lua', content: LUA }
const tar = (entries: readonly Entry[]) => Buffer.concat([...entries.map(entry), new Uint8Array(2 * BLOCK)])
const record = (key: string, value: string) => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + 1
  while (String(length).length + rest !== length) length = String(length).length + rest
  return `${length} ${key}=${value}\n`
}

/** A good package with something beside it. */
const beside = (name: string, outcome: Offered['outcome'], make: (choices: Choices) => readonly Entry[]): Offered => ({
  name: `archive: ${name}`,
  outcome,
  make: (choices) => ({ kind: 'archive', bytes: tar([MANIFEST, CODE, ...make(choices)]) }),
})
const whole = (name: string, outcome: Offered['outcome'], make: (choices: Choices) => Uint8Array): Offered => ({
  name: `archive: ${name}`,
  outcome,
  make: (choices) => ({ kind: 'archive', bytes: make(choices) }),
})

const BAD_NAME = /is no name of a file below the package/
const NAMES = [
  '../x',
  '/x',
  'package/../../x',
  'package/a/../../../x',
  'C:/x',
  'package\\..\\..\\x',
  'package/a\u001b[2Jb',
  'package/a\nb',
  'package//x',
  'package/./x',
  '',
]

const GOOD = tar([MANIFEST, CODE])

const ENTRIES: readonly Offered[] = [
  ...NAMES.map((name) => beside(`the name ${JSON.stringify(name)}`, BAD_NAME, () => [{ name, content: 'x' }])),
  beside('a name that is no UTF-8', BAD_NAME, ({ number }) => [
    { name: Uint8Array.from([...Buffer.from('package/'), number(0x80, 0xff)]) },
  ]),
  beside('a name that runs backwards', 'taken', () => [{ name: 'package/\u202egpj.exe' }]),
  beside('a name of 256 bytes', /is too long/, () => [
    { name: 'x', type: 'x', content: record('path', `package/${'n'.repeat(256)}`) },
    { name: 'y' },
  ]),
  beside('a name of 5,000 bytes', /is too long/, () => [{ name: 'x', type: 'L', content: 'n'.repeat(5000) }, { name: 'y' }]),
  beside('a name that leads out, in a record', BAD_NAME, () => [
    { name: 'x', type: 'x', content: record('path', '../../x') },
    { name: 'package/y' },
  ]),
  beside('a name that leads out, in a long name', BAD_NAME, () => [{ name: 'x', type: 'L', content: '/tmp/x\0' }, { name: 'package/y' }]),
  beside('a size in a record', /links, or files beyond/, () => [
    { name: 'x', type: 'x', content: record('size', '1') },
    { name: 'package/y' },
  ]),
  beside('a link in a record', /links, or files beyond/, () => [
    { name: 'x', type: 'x', content: record('linkpath', '/etc/passwd') },
    { name: 'package/y' },
  ]),
  beside('a record that says it is longer', /cannot be read/, () => [
    { name: 'x', type: 'x', content: '99999 path=a\n' },
    { name: 'package/y' },
  ]),
  beside('a record of zeros', /cannot be read/, ({ number }) => [{ name: 'x', type: 'x', content: '0'.repeat(number(10, 100_000)) }]),
  beside('a record of 2 MiB', /too long/, () => [{ name: 'x', type: 'x', content: new Uint8Array(2 * 1024 * 1024) }]),
  beside('many records before one file', 'taken', () => [
    ...Array.from({ length: 2000 }, () => ({ name: 'x', type: 'x', content: record('mtime', '1') })),
    { name: 'package/y' },
  ]),
  ...['1', '2'].map((type) =>
    beside(`a link of the type ${type}`, /is a link/, () => [{ name: 'package/passwd', type, link: '/etc/passwd' }]),
  ),
  beside('a folder that is a link, and a file in it', /is a link/, () => [
    { name: 'package/out', type: '2', link: '../../..' },
    { name: 'package/out/x', content: 'x' },
  ]),
  ...['3', '4', '6', 'S', '9', 'V', 'M', 'D'].map((type) =>
    beside(`something of the type ${type}`, /only files and directories are taken|both a file/, () => [{ name: 'package/thing', type }]),
  ),
  beside('a file twice', /is in it twice/, () => [CODE]),
  beside('a second manifest', /is in it twice/, () => [
    { ...MANIFEST, content: JSON.stringify(manifestOf({ capabilities: ['process-spawn'] })) },
  ]),
  beside('a file that is a folder, too', /both a file and a directory/, () => [{ name: 'package/agent.lua/x' }]),
  beside('names that differ in their case', 'taken', () => [{ name: 'package/AGENT.lua', content: 'return 1' }]),
  beside('names that look the same', 'taken', () => [{ name: 'package/\u00e9' }, { name: 'package/e\u0301' }]),
  beside('a file of the prototype', 'taken', () => [{ name: 'package/__proto__' }, { name: 'package/constructor' }]),
  beside('a repository of hooks', 'taken', () => [
    { name: 'package/.git/hooks/post-checkout', content: '#!/bin/sh\ntouch owned', mode: '0000755' },
  ]),
  beside('every bit of a mode', 'taken', () => [{ name: 'package/run', content: '#!/bin/sh', mode: '0007777' }]),
  beside('a size below nothing', /no tar archive, or a damaged one/, () => [
    { name: 'package/x', size: Uint8Array.from(Array.from({ length: 12 }, () => 0xff)) },
  ]),
  beside('a size beyond all', /no tar archive, or a damaged one|in the middle of a file/, () => [
    { name: 'package/x', size: Buffer.from('77777777777\0') },
  ]),
  beside('a sum that is another', /no tar archive, or a damaged one/, () => [{ name: 'package/x', sum: '000001\0 ' }]),
  beside('4,097 files', /more than 4096 files/, () => Array.from({ length: 4097 }, (_, at) => ({ name: `package/f${at}` }))),
  beside('20,000 folders', /more than 16384 files/, () =>
    Array.from({ length: 20_000 }, (_, at) => ({ name: `package/d${at}/`, type: '5' })),
  ),
]

const ARCHIVES: readonly Offered[] = [
  whole('nothing', /no svc-plugin\.json|no tar archive/, () => new Uint8Array()),
  whole('zeros', /no svc-plugin\.json/, ({ number }) => new Uint8Array(number(1, 50) * 1024)),
  whole('noise', /no tar archive, or a damaged one/, ({ number }) =>
    Uint8Array.from(Array.from({ length: 5000 }, () => number(0, 255) | 1)),
  ),
  whole('cut in a file', /in the middle of a file|does not exist|no svc-plugin/, ({ number }) => GOOD.subarray(0, BLOCK + number(1, 60))),
  whole('cut in its compression', /cannot be taken/, ({ number }) => gzipSync(GOOD).subarray(0, number(12, 120))),
  whole('noise behind its compression', /./, ({ word }) => Buffer.concat([gzipSync(GOOD), Buffer.from(word(40))])),
  whole('compressed twice', /no tar archive|no svc-plugin/, () => gzipSync(gzipSync(GOOD))),
  whole('a bomb', /holds more than 64 MiB/, ({ number }) => gzipSync(new Uint8Array(number(100, 160) * 1024 * 1024))),
  whole('bombs in a row', /holds more than 64 MiB/, () =>
    Buffer.concat(Array.from({ length: 8 }, () => gzipSync(new Uint8Array(16 * 1024 * 1024)))),
  ),
  whole('65 MiB in one file', /more than 67108864 bytes|larger than/, () =>
    gzipSync(tar([MANIFEST, CODE, { name: 'package/big', content: new Uint8Array(65 * 1024 * 1024) }])),
  ),
  whole('an archive of another kind', /no tar archive/, ({ one }) =>
    Buffer.concat([Buffer.from(one(['PK\u0003\u0004', 'BZh9', '\u00fd7zXZ', 'Rar!'])), new Uint8Array(1000).fill(1)]),
  ),
  whole('no manifest', /there is no svc-plugin\.json/, () => tar([CODE])),
  whole('a manifest too deep', /there is no svc-plugin\.json/, () => tar([{ ...MANIFEST, name: 'package/a/svc-plugin.json' }])),
  whole('a folder for a manifest', /there is no svc-plugin\.json/, () => tar([{ name: 'package/svc-plugin.json/', type: '5' }, CODE])),
  whole('two outermost folders', /there is no svc-plugin\.json/, () =>
    tar([
      { ...MANIFEST, name: 'one/svc-plugin.json' },
      { name: 'other/agent.lua', content: LUA },
    ]),
  ),
  // The folder that `init` makes is the package, whatever lies beside it.
  whole('code beside the package', /does not exist/, () => tar([MANIFEST, { name: 'other/agent.lua', content: LUA }])),
  whole('an end in the middle', /does not exist/, () =>
    Buffer.concat([entry(MANIFEST), new Uint8Array(2 * BLOCK), entry(CODE), new Uint8Array(2 * BLOCK)]),
  ),
  whole('names that other programs make of it', 'taken', () =>
    writeTar([
      { path: 'package/svc-plugin.json', executable: false, content: text(JSON.stringify(manifestOf())) },
      { path: 'package/agent.lua', executable: false, content: text(LUA) },
      { path: `package/${'a/'.repeat(100)}x`, executable: false, content: text('x') },
    ]),
  ),
]

/** A good folder with something beside it. */
const folder = (name: string, outcome: Offered['outcome'], add: (root: string, choices: Choices) => void): Offered => ({
  name: `folder: ${name}`,
  outcome,
  make: (choices) => ({
    kind: 'folder',
    write(root) {
      writeFileSync(join(root, 'svc-plugin.json'), JSON.stringify(manifestOf()))
      writeFileSync(join(root, 'agent.lua'), LUA)
      add(root, choices)
    },
  }),
})

const ODD_NAME = /has a name that is not the same everywhere/

const FOLDERS: readonly Offered[] = [
  folder('a link to a file', /link/, (root, { one }) =>
    symlinkSync(one(['/etc/passwd', '../outside', 'agent.lua', 'nowhere']), join(root, 'link')),
  ),
  folder('a link to a folder', /link/, (root, { one }) => symlinkSync(one(['/', '..', '.']), join(root, 'link'))),
  folder('a link to itself', /link/, (root) => symlinkSync('link', join(root, 'link'))),
  folder('a hard link to a file outside', 'taken', (root) => {
    writeFileSync(join(root, '..', 'outside.txt'), 'outside')
    linkSync(join(root, '..', 'outside.txt'), join(root, 'inside.txt'))
  }),
  folder('a pipe', 'taken', (root) => void execFileSync('mkfifo', [join(root, 'pipe')])),
  folder('200 folders in each other', 'taken', (root, { number }) => {
    const deep = join(root, ...Array.from({ length: number(100, 200) }, () => 'd'))
    mkdirSync(deep, { recursive: true })
    writeFileSync(join(deep, 'x'), '')
  }),
  folder('a name that is no UTF-8', ODD_NAME, (root, { number }) =>
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x61, number(0x80, 0xff)])]), ''),
  ),
  folder('a name with a line in it', ODD_NAME, (root) => writeFileSync(join(root, 'a\nadded dev.example.other'), '')),
  folder('4,097 files', /4096|files/, (root) => {
    for (let at = 0; at < 4097; at++) writeFileSync(join(root, `f${at}`), '')
  }),
  folder('65 MiB of nothing in one file', /67108864|MiB|large|bytes/, (root) => {
    writeFileSync(join(root, 'big'), '')
    truncateSync(join(root, 'big'), 65 * 1024 * 1024)
  }),
  folder('a repository and modules of its own', 'taken', (root, { word }) => {
    for (const name of ['.git/hooks', 'node_modules/.bin']) {
      mkdirSync(join(root, name), { recursive: true })
      writeFileSync(join(root, name, word()), '#!/bin/sh\ntouch owned', { mode: 0o755 })
    }
  }),
]

export const PACKAGES: readonly Offered[] = [...ENTRIES, ...ARCHIVES, ...FOLDERS]
