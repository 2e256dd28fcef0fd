import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { knowFiles } from '../../../src/published/testing/world/files.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-known-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('watchers hear of every kind of write below their directory, and of no other, until they end', async () => {
  const files = knowFiles(createNodeFiles())
  const [watched, other] = [join(root, 'watched'), join(root, 'watched-not')]
  mkdirSync(watched)
  mkdirSync(other)
  const seen: string[] = []
  const end = await files.watch(watched, (paths) => seen.push(...paths))
  await files.writeAtomic(join(watched, 'a'), 'a')
  await files.writeAtomic(join(other, 'a'), 'a')
  await files.rename(join(watched, 'a'), join(watched, 'b'))
  await files.remove(join(watched, 'b'))
  await (await files.createFile(join(watched, 'c'))).close()
  await files.makeDirectory(join(watched, 'd'))
  await files.removeTree(join(watched, 'd'))
  end?.()
  await files.writeAtomic(join(watched, 'e'), 'e')
  expect(seen.map((path) => path.slice(watched.length))).toEqual(['/a', '/a', '/b', '/b', '/c', '/d', '/d'])
  expect(await files.watch(join(root, 'nowhere'), () => undefined)).toBeUndefined()
})

test('settling waits for the work under way and for what follows from it', async () => {
  const real = createNodeFiles()
  let release: () => void = () => undefined
  const gate = new Promise<void>((resolve) => (release = resolve))
  const files = knowFiles({ ...real, stat: (path) => gate.then(() => real.stat(path)) })
  const steps: string[] = []
  void files.stat(root).then(async () => {
    steps.push('first')
    for await (const _ of files.walk(root, { maxEntries: 100 }));
    steps.push('second')
    await files.readDirectory(root)
    steps.push('third')
  })
  const settled = files.settle().then(() => steps.push('settled'))
  release()
  await settled
  expect(steps).toEqual(['first', 'second', 'third', 'settled'])
})

test('a refusal of the files passes through', async () => {
  const files = knowFiles(createNodeFiles())
  await expect(files.readDirectory(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' })
  await files.settle()
})
