/** What a link in a repository leads to is not shown: neither by git, nor by what svc reads itself (threat-model F1). */
import { existsSync, readdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createHistories } from '../../../src/platform/git/objects/history.js'
import { createCheckLinks } from '../../../src/platform/git/unlinked.js'
import { repositoryAround } from '../../../src/platform/git/repository.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { openVcs } from '../../plugins/vcs/fixture.js'
import { type Checkout, makeCheckout, temporary } from './checkout.js'

const files = createNodeFiles()

function grown(): Checkout {
  const checkout = makeCheckout()
  checkout.write('a.txt', 'one\n')
  checkout.commit()
  checkout.write('a.txt', 'two\n')
  checkout.commit()
  checkout.write('a.txt', 'three\n')
  return checkout
}

function packed(): Checkout {
  const checkout = grown()
  checkout.git('repack', '-adq')
  checkout.git('pack-refs', '--all')
  return checkout
}

const looseDirectory = ({ directory }: Checkout) => readdirSync(join(directory, '.git/objects')).find((name) => name.length === 2) ?? ''
const packOf = ({ directory }: Checkout, end: string) =>
  readdirSync(join(directory, '.git/objects/pack')).find((name) => name.endsWith(end)) ?? ''

const PLACES: readonly (readonly [what: string, make: () => Checkout, of: (checkout: Checkout) => string])[] = [
  ['a branch', grown, () => 'refs/heads/main'],
  ['its branches', grown, () => 'refs/heads'],
  ['its refs', grown, () => 'refs'],
  ['packed refs', packed, () => 'packed-refs'],
  ['its index', grown, () => 'index'],
  ['its objects', grown, () => 'objects'],
  ['a directory of objects', grown, (checkout) => `objects/${looseDirectory(checkout)}`],
  [
    'an object',
    grown,
    (checkout) => {
      const directory = `objects/${looseDirectory(checkout)}`
      return `${directory}/${readdirSync(checkout.path(`.git/${directory}/x`).slice(0, -2))[0]}`
    },
  ],
  ['its packs', packed, () => 'objects/pack'],
  ['a pack', packed, (checkout) => `objects/pack/${packOf(checkout, '.pack')}`],
  ['the index of a pack', packed, (checkout) => `objects/pack/${packOf(checkout, '.idx')}`],
  ['what tells of packs', packed, () => 'objects/info'],
]

test.each(PLACES)('%s that lies elsewhere is refused, and taken when it is back', async (_, make, placeOf) => {
  const checkout = make()
  const vcs = openVcs()
  const place = join(checkout.directory, '.git', placeOf(checkout))
  expect((await vcs.diff(checkout.directory)).map(({ path }) => path)).toEqual(['a.txt'])

  const elsewhere = join(temporary(), 'elsewhere')
  renameSync(place, elsewhere)
  symlinkSync(elsewhere, place)
  expect(checkout.git('diff', 'HEAD'), 'control: git follows it').toContain('+three')
  const refused = { code: 'request.unprocessable', message: expect.stringContaining(place.split('/').at(-1) ?? '') as string }
  for (const ask of [vcs.status, vcs.diff, vcs.raw]) await expect(ask(checkout.directory)).rejects.toMatchObject(refused)

  unlinkSync(place)
  renameSync(elsewhere, place)
  expect((await vcs.diff(checkout.directory)).map(({ path }) => path)).toEqual(['a.txt'])
})

test('the content of another repository is not shown through a directory of its objects', async () => {
  const own = grown()
  const taken = readdirSync(join(own.directory, '.git/objects'))
  const other = makeCheckout()
  const idOf = (turn: number) => {
    other.write('secret.txt', `TOP SECRET ${turn}\n`)
    return other.git('hash-object', '-w', 'secret.txt').trim()
  }
  // In a directory that has none of our own objects: theirs takes its place whole.
  let id = idOf(0)
  for (let turn = 1; taken.includes(id.slice(0, 2)); turn++) id = idOf(turn)
  const directory = join(own.directory, '.git/objects', id.slice(0, 2))
  symlinkSync(join(other.directory, '.git/objects', id.slice(0, 2)), directory)
  own.git('update-index', '--add', '--cacheinfo', `100644,${id},secret.txt`)
  own.git('commit', '--quiet', '--message', 'theirs')
  expect(own.git('diff', 'HEAD'), 'control').toContain('TOP SECRET')
  await expect(openVcs().diff(own.directory)).rejects.toMatchObject({ code: 'request.unprocessable' })
})

test.each(PLACES.filter(([what]) => !['its index', 'what tells of packs'].includes(what)))(
  'no history is read through %s',
  async (_, make, placeOf) => {
    const checkout = make()
    const first = checkout.git('rev-list', '--max-parents=0', 'HEAD').trim()
    const look = async () => {
      const repository = await repositoryAround(files, checkout.directory)
      if (repository === undefined) throw new Error('there is no repository')
      return createHistories(files).first(repository)
    }
    expect(await look()).toBe(first)
    // Every object, because it is not known which of them a history needs.
    const place = placeOf(checkout)
    const at = (name: string) => join(checkout.directory, '.git', name)
    const all = /^objects\/..$/.test(place)
      ? readdirSync(at('objects')).flatMap((name) => (name.length === 2 ? [`objects/${name}`] : []))
      : /^objects\/..\//.test(place)
        ? readdirSync(at('objects')).flatMap((name) =>
            name.length === 2 ? readdirSync(at(`objects/${name}`)).map((file) => `objects/${name}/${file}`) : [],
          )
        : [place]
    const elsewhere = temporary()
    for (const [index, name] of all.entries()) {
      renameSync(at(name), join(elsewhere, String(index)))
      symlinkSync(join(elsewhere, String(index)), at(name))
    }
    expect(checkout.git('rev-list', '--max-parents=0', 'HEAD').trim(), 'control: git follows it').toBe(first)
    await expect(look()).rejects.toThrow(/leads to/)
  },
)

test('directories that have not changed are not listed again, and a link that comes is found', async () => {
  const checkout = grown()
  const objects = join(checkout.directory, '.git/objects')
  let listed = 0
  const counting = {
    ...files,
    readDirectory: (path: string) => {
      listed += 1
      return files.readDirectory(path)
    },
  }
  const later = { now: () => Date.now() + 60_000 }
  const check = createCheckLinks({ files: counting, clock: later as Parameters<typeof createCheckLinks>[0]['clock'] })
  await check(objects)
  expect(listed).toBeGreaterThan(5)
  listed = 0
  await check(objects)
  expect(listed).toBe(0)
  symlinkSync(checkout.path('a.txt'), join(objects, looseDirectory(checkout), 'link'))
  await expect(check(objects)).rejects.toThrow('link is a link')
  unlinkSync(join(objects, looseDirectory(checkout), 'link'))
  await check(objects)

  const now = createCheckLinks({ files: counting, clock: { now: () => 0 } as Parameters<typeof createCheckLinks>[0]['clock'] })
  listed = 0
  await now(objects)
  const once = listed
  await now(objects)
  expect(listed, 'what was changed just now is looked at again').toBe(once * 2)
  expect(existsSync(objects)).toBe(true)
})
