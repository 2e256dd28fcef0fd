/**
 * Whole repositories that nobody has: each is read, or refused with a sentence, and others have their turn meanwhile (threat-model X1, A6, §7).
 * A reader whose work grows with the square of these would not come to an end.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createHistories } from '../../../src/platform/git/objects/history.js'
import { createNamedPrograms } from '../../../src/platform/git/named-programs.js'
import { createCheckouts } from '../../../src/platform/git/origin.js'
import { repositoryAt } from '../../../src/platform/git/repository.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { configurations, histories, indexes, type MakeHostile } from '../../fixtures/hostile-repositories.js'
import { makeCheckout } from '../git/checkout.js'
import { turnsDuring } from './meter.js'

const files = createNodeFiles()
const { paths } = createFakeEffects()
/** Of what the limits let through: the whole of it is in `test/campaigns/floods`. */
const SHARE = 1 / 16
const HISTORIES = histories(SHARE)
const INDEXES = indexes(SHARE)
const CONFIGURATIONS = configurations()
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern)
const SPENT = /reading it takes more than is spent on it/

function hostile(make: MakeHostile): { readonly directory: string; readonly first: string } {
  const checkout = makeCheckout()
  checkout.write('docs/page.md', 'text\n')
  checkout.commit()
  const first = checkout.git('rev-parse', 'HEAD').trim()
  make(checkout.directory)
  return { directory: checkout.directory, first }
}

/** Cases that are missing here are read as if nothing were wrong. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'a head that is looked for among many refs': /^undefined$/,
  'nothing but line ends': /^it has more than 1000000 packed refs$/,
  'more replacements than are followed': /^it has too many replaced objects$/,
  'a head of circles': /^its HEAD leads round in circles$/,
  'a commit of 20,000 parents': /^its commit [0-9a-f]{40} is missing$/,
  'a commit that becomes 200 MB': /^an object of it is damaged or too large$/,
  'a common directory of line ends': /ENOENT|ENAMETOOLONG/,
  'a commit graph of many who share 20,000 parents': SPENT,
  'a commit graph of one with a million parents': /^its commit graph is damaged$/,
  '120 long names': /a name in it is too long/,
  '20,000 long names': /a name in it is too long/,
  'names of 4 kB that share what they begin with': SPENT,
  'the same name again and again': /it has more than 64 entries for one path/,
  'no name again and again': /it has more than 16384 entries for replaced paths/,
  'names of marks': /a name in it is too long/,
  'many empty extensions': /it has more than 256 extensions/,
  'one name without an end': /it ends too early/,
  'a section of 500 kB, and 200,000 keys': /a name in the git configuration is too long/,
  'a section of 4 kB, and 32,000 keys': SPENT,
  'more keys than are read': /more than 32768 settings/,
  'attributes of one long pattern': /may have changed it at the checkout/,
  'attributes of 90,000 patterns': /may have changed it at the checkout/,
}

describe('the history of a repository is told, or why it is not', () => {
  test.each(Object.entries(HISTORIES))('%s', async (name, make) => {
    const { directory, first } = hostile(make)
    const { outcome } = await turnsDuring(async () => {
      const repository = await repositoryAt(files, directory)
      return repository === undefined ? 'there is none' : createHistories(files).first(repository)
    })
    expect(String(outcome)).toMatch(REFUSED[name] ?? new RegExp(`^${first}$`))
  })

  test('a few bytes are read in few turns, many in many', async () => {
    const turnsOf = async (name: string) => {
      const { directory } = hostile(HISTORIES[name] ?? (() => undefined))
      const repository = await repositoryAt(files, directory)
      if (repository === undefined) throw new Error('there is none')
      return (await turnsDuring(() => createHistories(files).first(repository))).turns
    }
    // A busy machine adds turns to any of them, and takes none away.
    let few = Number.POSITIVE_INFINITY
    for (let times = 0; times < 5; times++) few = Math.min(few, await turnsOf('none'))
    const many = await turnsOf('many refs')
    expect(many).toBeGreaterThan(few + 5)
  })
})

describe('where a file comes from is told, or why it cannot be', () => {
  test.each([...Object.entries(INDEXES), ...Object.entries(CONFIGURATIONS)])('%s', async (name, make) => {
    const { directory } = hostile(make)
    const path = join(directory, 'docs/page.md')
    writeFileSync(path, 'other\r\n')
    const checkouts = createCheckouts({ files, paths })
    const { outcome } = await turnsDuring(async () => (await checkouts.origins([{ path, bytes: Buffer.from('other\r\n') }]))[0])
    const refused = REFUSED[name]
    expect(outcome).toEqual(
      refused === undefined ? { from: 'elsewhere' } : { from: 'checkout', isCertain: false, reason: matching(refused) },
    )
  })

  test('an index that was refused is not read again before it is another one', async () => {
    const { directory } = hostile(INDEXES['120 long names'] ?? (() => undefined))
    const read: string[] = []
    const counted = { ...files, read: (...args: Parameters<typeof files.read>) => (read.push(args[0]), files.read(...args)) }
    const checkouts = createCheckouts({ files: counted, paths })
    const path = join(directory, 'docs/page.md')
    for (let round = 0; round < 3; round++)
      expect(await checkouts.origins([{ path, bytes: Buffer.from('text\n') }])).toMatchObject([{ isCertain: false }])
    expect(read.filter((name) => name.endsWith('/index'))).toHaveLength(1)
    writeFileSync(join(directory, '.git/index'), 'none')
    expect(await checkouts.origins([{ path, bytes: Buffer.from('text\n') }])).toMatchObject([{ reason: matching(/no index/) }])
  })

  test('4,000 files of 400 directories are told together', async () => {
    const { directory } = hostile(() => undefined)
    const asked: { path: string; bytes: Buffer }[] = []
    for (let each = 0; each < 400; each++) {
      const folder = join(directory, 'many', `${each}`)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, '.gitattributes'), '*.txt text\n'.repeat(1000))
      for (let file = 0; file < 10; file++) asked.push({ path: join(folder, `${file}.md`), bytes: Buffer.from('x') })
    }
    asked.push({ path: join(directory, 'docs/page.md'), bytes: Buffer.from('text\n') })
    const { outcome } = await turnsDuring(() => createCheckouts({ files, paths }).origins(asked))
    expect(outcome).toEqual([
      ...Array.from({ length: 4000 }, () => ({ from: 'elsewhere' })),
      expect.objectContaining({ from: 'checkout', isCertain: true }) as unknown,
    ])
  })
})

describe('what git would start is named, or asked about', () => {
  test.each([...Object.entries(INDEXES), ...Object.entries(CONFIGURATIONS)])('%s', async (name, make) => {
    const { directory } = hostile(make)
    const programs = createNamedPrograms({ files, paths })
    const { outcome } = await turnsDuring(() => programs.named(directory, 'status'))
    const refused = name.startsWith('attributes') ? undefined : REFUSED[name]
    const told = name === 'many submodules' ? /^more submodules than are looked at in / : refused
    expect(outcome).toEqual(told === undefined ? [] : [matching(told)])
  })
})
