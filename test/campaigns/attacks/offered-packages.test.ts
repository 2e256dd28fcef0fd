// Holds threat-model F4, X1, K2.
/**
 * Hostile packages offered to `svc plugin add`, made from tables by a seed: manifests, archives and folders. What is wrong is refused in a sentence,
 * nothing is left of it, nothing is written or run anywhere else, and what is shown obeys nobody.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, makeHome } from '../../cli/program.js'
import { sample, SEED, WHOLE } from '../scale.js'
import { PACKAGES } from './generated/archives.js'
import { MANIFESTS } from './generated/manifests.js'
import { ID, LUA, manifestOf, type Offered } from './generated/offered.js'
import { choicesOf } from './generated/random.js'

const ALL = [...MANIFESTS, ...PACKAGES]
const CANARY = 'nobody touched this'

let home: Home
beforeAll(() => {
  home = makeHome()
  writeFileSync(join(home.path, 'canary'), CANARY)
})
afterAll(() => home.close())

const config = () => join(home.path, '.config/svc')
const plugins = () => (existsSync(join(config(), 'plugins')) ? readdirSync(join(config(), 'plugins')) : [])
/** Everything in the home and in the workspace, but what a command may write: the installation and its state. */
function elsewhere(): string[] {
  const inHome = readdirSync(home.path).filter((name) => !['.config', 'state'].includes(name))
  return [...inHome, ...readdirSync(home.workspace), ...readdirSync(join(home.workspace, 'offered'))]
}

/** Everything a terminal, or whoever reads a line, could be led by. */
const OBEYED = /[\p{Cc}\u{2028}\u{2029}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u

interface Seen {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly added: readonly string[]
  readonly left: readonly string[]
  readonly elsewhere: readonly string[]
  readonly canary: string
}

async function offer(offered: Offered): Promise<Seen> {
  const room = join(home.workspace, 'offered')
  rmSync(room, { recursive: true, force: true })
  mkdirSync(join(room, 'folder'), { recursive: true })
  const content = offered.make(choicesOf(SEED, ALL.indexOf(offered)))
  if (content.kind === 'folder') content.write(join(room, 'folder'))
  else writeFileSync(join(room, 'offered.tar'), content.bytes)
  const before = elsewhere()
  const { code, stdout, stderr } = await home.run([
    'plugin',
    'add',
    content.kind === 'folder' ? './offered/folder' : './offered/offered.tar',
  ])
  const seen = {
    code,
    stdout,
    stderr,
    added: plugins(),
    left: existsSync(config()) ? readdirSync(config()).filter((name) => name.startsWith('.')) : [],
    elsewhere: elsewhere().filter((name) => !before.includes(name)),
    canary: readFileSync(join(home.path, 'canary'), 'utf8'),
  }
  for (const name of ['plugins', 'installed-plugins.json']) rmSync(join(config(), name), { recursive: true, force: true })
  return seen
}

/** What is wrong with what came of it; nothing where it was refused, or taken, as it should be. */
function wrong({ outcome }: Offered, { code, stdout, stderr, added, left, elsewhere, canary }: Seen): string[] {
  const shown = `${stdout}${stderr}`
  const isTaken = code === 0 && added.length === 1
  const isRefused = code === 1 && added.length === 0 && stdout === '' && /^svc: (?!\w*Error)[^\n]+\n$/.test(stderr)
  const isDeserved = outcome === 'taken' ? isTaken : isRefused && outcome.test(stderr)
  return [
    ...(isDeserved ? [] : [`it was ${isTaken ? 'taken' : isRefused ? 'refused' : `answered with ${code}`}: ${shown.slice(0, 500)}`]),
    ...(shown.split('\n').some((line) => OBEYED.test(line)) ? [`it shows ${JSON.stringify(shown.slice(0, 500))}`] : []),
    ...(shown.length > 20_000 ? [`it shows ${shown.length} characters`] : []),
    ...(left.length > 0 ? [`it left ${left.join(', ')}`] : []),
    ...(elsewhere.length > 0 ? [`it wrote ${elsewhere.join(', ')}`] : []),
    ...(canary === CANARY ? [] : ['it changed a file of somebody else']),
  ]
}

describe(`hostile packages, seed ${SEED}`, () => {
  test.each(sample(ALL, 16))('$name', async (offered) => {
    expect(wrong(offered, await offer(offered))).toEqual([])
  })

  test('each has a name of its own', () => {
    expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length)
    expect(ALL.length).toBeGreaterThanOrEqual(WHOLE ? 130 : 100)
  })

  test('a good one is taken, and everything that is watched for is seen', async () => {
    const good: Offered = {
      name: 'good',
      outcome: 'taken',
      make: () => ({
        kind: 'folder',
        write(root) {
          writeFileSync(join(root, 'svc-plugin.json'), JSON.stringify(manifestOf()))
          writeFileSync(join(root, 'agent.lua'), LUA)
        },
      }),
    }
    const seen = await offer(good)
    expect([wrong(good, seen), seen.added]).toEqual([[], [ID]])
    expect(wrong({ ...good, outcome: /./ }, seen)).toHaveLength(1)
    const bad = { ...seen, stderr: '\u{1b}[2J'.repeat(6000), left: ['.adding-1-a'], elsewhere: ['x'], canary: '' }
    expect(wrong(good, bad)).toHaveLength(5)
    expect(wrong({ ...good, outcome: /./ }, { ...seen, code: 1, added: [], stdout: '', stderr: 'TypeError: x\n    at y\n' })).toHaveLength(
      1,
    )
  })
})
