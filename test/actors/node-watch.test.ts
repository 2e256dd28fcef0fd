import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { createNodeFiles } from '../../src/actors/node-files.js'
import { until } from '../fakes/programs.js'

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

/** Writes a file until it is noticed: what a watcher tells is a hint, and one of them may be lost. */
async function changing(path: string, what: string, isNoticed: () => boolean): Promise<void> {
  let times = 0
  await until(what, () => {
    if (isNoticed()) return true
    writeFileSync(path, String(times++))
    return false
  })
}

it('names what changed below the directory, new folders included', async () => {
  const directory = fresh('tree')
  const { seen } = await watch(directory)
  mkdirSync(join(directory, 'inner'))
  await until('the folder is seen', () => seen.includes(join(directory, 'inner')))
  await changing(join(directory, 'inner', 'file'), 'the file is seen', () => seen.includes(join(directory, 'inner', 'file')))
})

it('names paths below the directory as it was given, though it is a link', async () => {
  const directory = fresh('real')
  const link = join(root, 'link')
  symlinkSync(directory, link)
  const { seen } = await watch(link)
  await changing(join(directory, 'file'), 'the file is seen', () => seen.includes(join(link, 'file')))
})

it('tells everybody who watches, until they leave', async () => {
  const directory = fresh('shared')
  const first = await watch(directory)
  const second = await watch(directory)
  await changing(join(directory, 'one'), 'both have seen it', () =>
    [first, second].every(({ seen }) => seen.includes(join(directory, 'one'))),
  )
  first.end?.()
  first.end?.()
  await changing(join(directory, 'two'), 'who stayed has seen it', () => second.seen.includes(join(directory, 'two')))
  expect(first.seen).not.toContain(join(directory, 'two'))
})

it('goes on for others when a listener throws', async () => {
  const directory = fresh('throwing')
  await watch(directory, () => {
    throw new Error('listener failed')
  })
  const { seen } = await watch(directory)
  await changing(join(directory, 'file'), 'the file is seen', () => seen.includes(join(directory, 'file')))
})

it('can be begun again after it ended', async () => {
  const directory = fresh('again')
  const first = await watch(directory)
  first.end?.()
  const { seen } = await watch(directory)
  await changing(join(directory, 'file'), 'the file is seen', () => seen.includes(join(directory, 'file')))
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
  await changing(join(directory, 'file'), 'the file is seen', () => second.seen.includes(join(directory, 'file')))
  expect(first.end).not.toThrow()
})
