import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch as rawWatch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { until } from '../../fakes/programs.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-watch-')))
const files = createNodeFiles()
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function watch(directory: string, onChange?: (paths: readonly string[]) => void) {
  const seen: string[] = []
  const end = await files.watch(directory, onChange ?? ((paths) => seen.push(...paths)))
  if (end !== undefined) ends.push(end)
  return { seen, end }
}

function fresh(name: string): string {
  const directory = join(root, name)
  mkdirSync(directory)
  return directory
}

/** Whole numbers below `sides`, the same in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 7919
  return (sides) => (state = (state * 48_271) % 2_147_483_647) % sides
}

it('names what changed below the directory, new folders included', async () => {
  const directory = fresh('tree')
  const { seen } = await watch(directory)
  mkdirSync(join(directory, 'inner'))
  await until('the folder is seen', () => seen.includes(join(directory, 'inner')))
  writeFileSync(join(directory, 'inner', 'file'), 'x')
  await until('the file is seen', () => seen.includes(join(directory, 'inner', 'file')))
})

it('sees what is in folders that appear all at once, and goes on seeing it', async () => {
  const directory = fresh('deep')
  const { seen } = await watch(directory)
  const file = join(directory, 'one/two/three/file')
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, 'x')
  await until('the file is seen', () => seen.includes(file))
  seen.length = 0
  writeFileSync(file, 'y')
  await until('its change is seen', () => seen.includes(file))
})

it('follows folders that are moved, and those made in their place', async () => {
  const directory = fresh('moving')
  const [old, moved, file] = [join(directory, 'old'), join(directory, 'moved'), 'below/file']
  mkdirSync(join(old, 'below'), { recursive: true })
  const { seen } = await watch(directory)
  renameSync(old, moved)
  mkdirSync(join(old, 'below'), { recursive: true })
  await until('both are seen', () => [old, moved].every((path) => seen.includes(path)))
  for (const folder of [old, moved]) writeFileSync(join(folder, file), 'x')
  await until('both files are seen', () => [old, moved].every((folder) => seen.includes(join(folder, file))))
})

it('hears a folder that is made where another had been moved to and away again', async () => {
  const directory = fresh('passing')
  const [first, second, third] = [join(directory, 'a'), join(directory, 'b'), join(directory, 'c')]
  mkdirSync(first)
  const namer = rawWatch(first) // the system names a folder in its reports as whoever watched it first did
  ends.push(() => namer.close())
  const { seen } = await watch(directory)
  renameSync(first, second)
  await until('the move is seen', () => seen.includes(second))
  seen.length = 0
  renameSync(second, third)
  mkdirSync(second)
  await until('the new folder is seen', () => seen.includes(second) && seen.includes(third))
  const file = join(second, 'only-here')
  writeFileSync(file, 'x')
  await until('it is heard', () => seen.includes(file))
})

it.concurrent.each(Array.from({ length: 50 }, (_, index) => index + 1))(
  'is deaf in no folder after a storm of changes (%i)',
  async (seed) => {
    const directory = fresh(`storm${seed}`)
    const seen: string[] = []
    const end = await files.watch(directory, (paths) => seen.push(...paths))
    const next = dice(seed)
    const folder = () => join(directory, ...Array.from({ length: 1 + next(3) }, () => 'abc'[next(3)] ?? 'a'))
    for (let round = 0; round < 100; round++) {
      const [from, to] = [folder(), folder()]
      try {
        if (next(3) === 0) rmSync(from, { recursive: true, force: true })
        else if (next(2) === 0) renameSync(from, to)
        else mkdirSync(from, { recursive: true })
      } catch {
        // a folder into itself, or onto one with something in it
      }
      if (next(5) === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    mkdirSync(folder(), { recursive: true })
    const folders = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name))
    const last = join(directory, 'last')
    writeFileSync(last, 'x')
    await until('the storm is over', () => seen.includes(last))
    const made = folders.map((path, index) => join(path, `file${index}`)) // each in one folder only: a watch may tell of another's
    for (const file of made) writeFileSync(file, 'x')
    await until('every folder is heard', () => made.every((file) => seen.includes(file)))
    end?.()
  },
)

it('sees everything again after more changes than it keeps', async () => {
  const directory = fresh('flood')
  const { seen } = await watch(directory)
  for (let index = 0; index < 5000; index++) writeFileSync(join(directory, String(index)), '')
  mkdirSync(join(directory, 'made/later'), { recursive: true })
  await until('the new folder is seen', () => seen.includes(join(directory, 'made/later')))
  writeFileSync(join(directory, 'made/later/file'), 'x')
  await until('the file is seen', () => seen.includes(join(directory, 'made/later/file')))
})

it('names paths below the directory as it was given, though it is a link', async () => {
  const directory = fresh('real')
  const link = join(root, 'link')
  symlinkSync(directory, link)
  const { seen } = await watch(link)
  writeFileSync(join(directory, 'file'), 'x')
  await until('the file is seen', () => seen.includes(join(link, 'file')))
})

it('tells everybody who watches, until they leave', async () => {
  const directory = fresh('shared')
  const first = await watch(directory)
  const second = await watch(directory)
  writeFileSync(join(directory, 'one'), 'x')
  await until('both have seen it', () => [first, second].every(({ seen }) => seen.includes(join(directory, 'one'))))
  first.end?.()
  first.end?.()
  writeFileSync(join(directory, 'two'), 'x')
  await until('who stayed has seen it', () => second.seen.includes(join(directory, 'two')))
  expect(first.seen).not.toContain(join(directory, 'two'))
})

it('goes on for others when a listener throws', async () => {
  const directory = fresh('throwing')
  await watch(directory, () => {
    throw new Error('listener failed')
  })
  const { seen } = await watch(directory)
  writeFileSync(join(directory, 'file'), 'x')
  await until('the file is seen', () => seen.includes(join(directory, 'file')))
})

it('can be begun again after it ended', async () => {
  const directory = fresh('again')
  const first = await watch(directory)
  first.end?.()
  const { seen } = await watch(directory)
  writeFileSync(join(directory, 'file'), 'x')
  await until('the file is seen', () => seen.includes(join(directory, 'file')))
})

it('cannot be had for what is absent or no directory', async () => {
  writeFileSync(join(root, 'plain'), 'x')
  expect(await files.watch(join(root, 'absent'), () => undefined)).toBeUndefined()
  expect(await files.watch(join(root, 'plain'), () => undefined)).toBeUndefined()
})

it('ends with the directory, and can be begun for one made in its place', async () => {
  const directory = fresh('leaving')
  const first = await watch(directory)
  rmSync(directory, { recursive: true })
  await until('the end is seen', () => first.seen.includes(directory))
  expect(await files.watch(directory, () => undefined)).toBeUndefined()
  mkdirSync(directory)
  const second = await watch(directory)
  writeFileSync(join(directory, 'file'), 'x')
  await until('the file is seen', () => second.seen.includes(join(directory, 'file')))
  expect(first.end).not.toThrow()
})
