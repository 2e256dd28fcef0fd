/** A repository that would keep git waiting, or have it take memory or disk without end, costs itself and nobody else (threat-model X1, V1). */
import { execFileSync } from 'node:child_process'
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createCheckLinks } from '../../../src/platform/git/unlinked.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { openVcs } from '../../plugins/vcs/fixture.js'
import { type Checkout, makeCheckout } from './checkout.js'

function changed(): Checkout {
  const checkout = makeCheckout()
  checkout.write('a.txt', 'one\n')
  checkout.commit()
  checkout.write('a.txt', 'two\n')
  return checkout
}

const pipe = (path: string) => execFileSync('mkfifo', [path])
const NONE = '0'.repeat(40)

test.each([
  'index',
  `sharedindex.${NONE}`,
  'objects/info/commit-graph',
  'objects/info/alternates',
  'objects/pack/multi-pack-index',
  `objects/pack/pack-${NONE}.idx`,
  `objects/pack/pack-${NONE}.pack`,
  `objects/${NONE.slice(0, 2)}/x`,
  'HEAD',
  'config',
  'commondir',
])('git does not wait at a pipe in the place of %s', async (name) => {
  const checkout = changed()
  const vcs = openVcs()
  expect(await vcs.status(checkout.directory)).toMatchObject([{ path: 'a.txt', status: 'modified' }])
  const place = join(checkout.directory, '.git', name)
  mkdirSync(dirname(place), { recursive: true })
  rmSync(place, { force: true })
  pipe(place)
  for (const ask of [vcs.status, vcs.diff, vcs.raw])
    await expect(ask(checkout.directory)).rejects.toMatchObject({
      code: 'request.unprocessable',
      message: expect.stringMatching(/is a special file|has no HEAD/) as string,
    })
})

test.each(['.gitignore', '.gitattributes', '.gitmodules'])('git is not started where %s is a pipe', async (name) => {
  const checkout = changed()
  const vcs = openVcs()
  pipe(checkout.path(name))
  for (const ask of [vcs.status, vcs.diff, vcs.raw])
    await expect(ask(checkout.directory)).rejects.toMatchObject({
      code: 'request.unprocessable',
      message: expect.stringContaining(`${name} is a special file`) as string,
    })
  expect(vcs.mostAtOnce()).toBe(0)
})

test('git that takes long is ended where it waits at a pipe further down, with its place', async () => {
  const checkout = changed()
  const vcs = openVcs()
  mkdirSync(checkout.path('below/deep'), { recursive: true })
  pipe(checkout.path('below/deep/.gitignore'))
  const asked = vcs.status(checkout.directory).catch((error: unknown) => error)
  await expect.poll(vcs.running).toBe(1)
  await vcs.clock.advanceAsync(LIMITS.vcs.gitLate)
  expect(await asked).toMatchObject({
    code: 'request.unprocessable',
    message: `Git waits at ${checkout.path('below/deep/.gitignore')}, which is a special file.`,
  })
})

test('git that waits in one repository leaves turns to another', async () => {
  const [held, other] = [changed(), changed()]
  const vcs = openVcs()
  mkdirSync(held.path('below'))
  const ignores = held.path('below/.gitignore')
  pipe(ignores)
  const ended: string[] = []
  const waiting = Array.from({ length: LIMITS.vcs.git.atOnce * 2 }, () => vcs.status(held.directory).finally(() => ended.push('held')))
  expect(await vcs.status(other.directory)).toMatchObject([{ path: 'a.txt' }])
  expect(ended, 'control: git waits').toEqual([])
  expect(vcs.mostAtOnce()).toBeLessThanOrEqual(LIMITS.vcs.gitOfOne.atOnce + 1)
  // Who comes later finds a file, and those that wait get what a writer to the pipe gives them.
  const opened = held.path('.git/opened')
  linkSync(ignores, opened)
  unlinkSync(ignores)
  writeFileSync(ignores, '')
  writeFileSync(opened, '')
  expect(await Promise.all(waiting)).toHaveLength(LIMITS.vcs.git.atOnce * 2)
})

const standIns = (state: string) => readdirSync(join(state, 'git')).map((name) => join(state, 'git', name))

test('shared parts of an index are used where they lie, whatever their size, and refused when there are very many', async () => {
  const checkout = changed()
  checkout.git('update-index', '--split-index')
  const shared = readdirSync(checkout.path('.git')).find((name) => name.startsWith('sharedindex.')) ?? ''
  const large = checkout.write(`.git/sharedindex.${NONE}`, '')
  truncateSync(large, LIMITS.git.indexBytes * 4)
  const vcs = openVcs()
  expect(await vcs.status(checkout.directory)).toMatchObject([{ path: 'a.txt', status: 'modified' }])
  const [standIn = ''] = standIns(vcs.state)
  const parts = readdirSync(standIn).filter((name) => name.startsWith('sharedindex.'))
  expect(parts.toSorted()).toEqual([basename(large), shared].toSorted())
  for (const name of parts) expect(lstatSync(join(standIn, name)).isSymbolicLink()).toBe(true)

  unlinkSync(large)
  expect(await vcs.status(checkout.directory)).toHaveLength(1)
  expect(readdirSync(standIn)).not.toContain(basename(large))
  for (let index = 0; index < LIMITS.git.sharedIndexes; index++)
    writeFileSync(checkout.path(`.git/sharedindex.${index.toString(16).padStart(40, '0')}`), '')
  await expect(vcs.status(checkout.directory)).rejects.toMatchObject({ message: expect.stringContaining('shared indexes') as string })
})

test('objects in more directories than git makes are refused', async () => {
  const looked: string[] = []
  const directories = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `${index}`, kind: 'directory' as const }))
  const checkOf = (count: number) => {
    const files = {
      entry: async (path: string) => ({ kind: 'directory', identity: path, changedMs: 0, size: 0, mode: 0 }),
      readDirectory: async (path: string) => (looked.push(path), path === '/objects' ? directories(count) : []),
    }
    const clock = { now: () => 1_000_000 }
    return createCheckLinks({ files, clock } as unknown as Parameters<typeof createCheckLinks>[0])('/objects')
  }
  await checkOf(LIMITS.git.objectDirectories - 1)
  expect(looked, 'control').toHaveLength(LIMITS.git.objectDirectories)
  looked.length = 0
  await expect(checkOf(1_000_000)).rejects.toThrow('more than 4096 directories')
  expect(looked).toEqual(['/objects'])
})

test('git takes no more memory at once than it is given, whatever an object says of its size', async () => {
  const checkout = changed()
  const tree = checkout.git('rev-parse', 'HEAD^{tree}').trim()
  const path = checkout.path(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`)
  const vcs = openVcs()
  expect(await vcs.diff(checkout.directory)).toHaveLength(1)
  rmSync(path)
  writeFileSync(path, deflateSync(`tree ${8 * 1024 ** 3}\0${'x'.repeat(1000)}`))
  await expect(vcs.diff(checkout.directory)).rejects.toMatchObject({ message: expect.stringContaining('attempting to allocate') as string })
})

test('a repository does not say which files git holds whole', async () => {
  const checkout = changed()
  checkout.git('config', 'core.bigFileThreshold', '10g')
  const vcs = openVcs()
  const [mine, line] = [LIMITS.vcs.comparedBytes + 1, 'x'.repeat(1023)]
  checkout.write('large.txt', `${line}\n`.repeat(Math.ceil(mine / 1024)))
  expect(await vcs.diff(checkout.directory)).toMatchObject([
    { path: 'a.txt', additions: 1 },
    { path: 'large.txt', additions: 0, patch: expect.stringContaining('Binary files') as string },
  ])
  const [standIn = ''] = standIns(vcs.state)
  expect(readFileSync(join(standIn, 'config'), 'utf8').toLowerCase()).not.toContain('threshold')
})
