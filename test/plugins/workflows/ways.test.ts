import { mkdirSync, renameSync, rmdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Files } from '../../../src/ports/effects.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createRootWatches } from '../../../src/plugins/workflows/files/root-watch.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'

const MINUTE = 60_000

interface Awaited {
  readonly effects: FakeEffects
  readonly directory: string
  /** How often it was asked whether the directory is there. */
  readonly asked: number
  /** Resolves when it is there. */
  readonly appeared: Promise<void>
  stop(): void
}

/** A directory `.svc` of workflows in `place` that nobody has made yet. */
async function awaited(place: (root: string) => string, watchFolder?: Files['watchFolder']): Promise<Awaited> {
  const files = createNodeFiles()
  let asked = 0
  const effects: FakeEffects = createFakeEffects({
    files: {
      ...files,
      ...(watchFolder !== undefined && { watchFolder }),
      stat(path) {
        if (path === directory) asked++
        return files.stat(path)
      },
    },
  })
  const directory = join(place(effects.paths.cwd), '.svc')
  let tell: () => void = () => undefined
  const appeared = new Promise<void>((resolve) => (tell = resolve))
  const watch = createRootWatches(effects).watch('key', directory, { look: async () => undefined, onAppeared: tell })
  await watch.cover([])
  await effects.clock.advanceAsync(MINUTE)
  return {
    effects,
    directory,
    appeared,
    stop: watch.stop,
    get asked() {
      return asked
    },
  }
}

test('a directory that is not there is not asked after until it comes', async () => {
  const world = await awaited((root) => root)
  expect(world.asked).toBe(1)
  await world.effects.clock.advanceAsync(60 * MINUTE)
  expect(world.asked).toBe(1)
  mkdirSync(world.directory)
  await world.appeared
  world.stop()
})

test('it is heard of in folders that were not there either', async () => {
  const world = await awaited((root) => join(root, 'one/two'))
  mkdirSync(world.directory, { recursive: true })
  await world.appeared
  world.stop()
})

test('it is heard of in a folder that took the place of the one above it', async () => {
  const world = await awaited((root) => {
    mkdirSync(join(root, 'here'))
    mkdirSync(join(root, 'there/.svc'), { recursive: true })
    return join(root, 'here')
  })
  const { cwd } = world.effects.paths
  rmdirSync(join(cwd, 'here'))
  renameSync(join(cwd, 'there'), join(cwd, 'here'))
  await world.appeared
  world.stop()
})

test('it is heard of behind a link, and when another link takes its place', async () => {
  const world = await awaited((root) => {
    for (const name of ['one', 'two/.svc']) mkdirSync(join(root, name), { recursive: true })
    symlinkSync(join(root, 'one'), join(root, 'link'))
    symlinkSync(join(root, 'two'), join(root, 'other'))
    return join(root, 'link')
  })
  const { cwd } = world.effects.paths
  renameSync(join(cwd, 'other'), join(cwd, 'link'))
  await world.appeared
  world.stop()
})

test('it is heard of at the other end of a link above it', async () => {
  const world = await awaited((root) => {
    mkdirSync(join(root, 'far/one'), { recursive: true })
    symlinkSync(join(root, 'far'), join(root, 'near'))
    return join(root, 'near/one')
  })
  expect(world.asked).toBe(1)
  mkdirSync(join(world.effects.paths.cwd, 'far/new/.svc'), { recursive: true })
  renameSync(join(world.effects.paths.cwd, 'far/one'), join(world.effects.paths.cwd, 'far/old'))
  renameSync(join(world.effects.paths.cwd, 'far/new'), join(world.effects.paths.cwd, 'far/one'))
  await world.appeared
  world.stop()
})

test.each<[string, Files['watchFolder']]>([
  ['the system does not tell', () => 'refused'],
  ['the folder may not be listed', () => 'forbidden'],
])('it is asked after twice a second where %s', async (_, watchFolder) => {
  const world = await awaited((root) => root, watchFolder)
  expect(world.asked).toBeGreaterThan(100)
  mkdirSync(world.directory)
  await world.effects.clock.advanceAsync(1000)
  await world.appeared
  world.stop()
})

test('it is asked after twice a second where a link leads nowhere', async () => {
  const world = await awaited((root) => {
    symlinkSync(join(root, 'nowhere'), join(root, '.svc'))
    return root
  })
  expect(world.asked).toBeGreaterThan(100)
  mkdirSync(join(world.effects.paths.cwd, 'nowhere'))
  await world.effects.clock.advanceAsync(1000)
  await world.appeared
  world.stop()
})
