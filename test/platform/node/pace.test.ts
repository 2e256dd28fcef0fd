/** Operations on files that need no waiting give others their turn all the same (threat-model X1, §7). */
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createPace } from '../../../src/kernel/pause.js'
import { turnsDuring } from '../hostile-files/meter.js'

const OPERATIONS = 2000

/** A clock on which each look takes a while. */
function slowClock(step: number): () => number {
  let time = 0
  return () => (time += step)
}

function place(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'svc-pace-')))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'file'), 'text')
  symlinkSync('file', join(directory, 'link'))
  return directory
}

type NodeFiles = ReturnType<typeof createNodeFiles>

test.each<readonly [name: string, work: (files: NodeFiles, directory: string) => Promise<unknown>]>([
  ['stat', (files, directory) => files.stat(join(directory, 'file'))],
  ['entry', (files, directory) => files.entry(join(directory, 'link'))],
  ['realPath', (files, directory) => files.realPath(join(directory, 'link'))],
  ['readLink', (files, directory) => files.readLink(join(directory, 'link'))],
  ['exposure', (files, directory) => files.exposure(join(directory, 'file'))],
  ['read', (files, directory) => files.read(join(directory, 'file'), 100)],
])('%s, again and again, leaves turns to others', async (_, work) => {
  const directory = place()
  const turnsOf = async (step: number) => {
    const files = createNodeFiles(createPace({ now: slowClock(step) }))
    const { turns } = await turnsDuring(async () => {
      for (let done = 0; done < OPERATIONS; done++) await work(files, directory)
    })
    return turns
  }
  expect(await turnsOf(0), 'control: while no time passes there is one turn').toBeLessThan(5)
  expect(await turnsOf(1)).toBeGreaterThan(OPERATIONS / 20)
})

test('operations that were begun together go on in their order, some in a turn', async () => {
  const pace = createPace({ now: slowClock(1) })
  const order: number[] = []
  const { turns } = await turnsDuring(() =>
    Promise.all(
      Array.from({ length: OPERATIONS }, async (_, index) => {
        await pace()
        order.push(index)
      }),
    ),
  )
  expect(order).toEqual(Array.from({ length: OPERATIONS }, (_, index) => index))
  expect(turns).toBeGreaterThan(OPERATIONS / 40)
  expect(turns).toBeLessThan(OPERATIONS / 10)
})

test('who comes later does not overtake those who wait', async () => {
  const soon: (() => void)[] = []
  let time = 0
  const pace = createPace({ now: () => time, soon: (work) => soon.push(work) })
  const turn = () => soon.splice(0).forEach((work) => work())
  expect(pace()).toBeUndefined()
  time = 10
  const first = pace()
  expect(first).toBeInstanceOf(Promise)
  time = 0
  expect(pace(), 'though a new turn has begun').toBeInstanceOf(Promise)
  turn()
  await first
  expect(pace()).toBeUndefined()
})
