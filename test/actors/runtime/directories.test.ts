// Holds threat-model F1.
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createDirectories } from '../../../src/actors/runtime/directories.js'
import { nextTurn } from '../../../src/kernel/pause.js'
import { createFakeEffects } from '../../fakes/effects.js'

it('looks once at a folder that many name in one turn, and again in the next', async () => {
  const { files, paths, root } = createFakeEffects()
  const folder = join(root, 'named')
  await mkdir(folder)
  let looks = 0
  const watched = { ...files, realPath: (path: string) => ((looks += 1), files.realPath(path)) }
  const directories = createDirectories({ files: watched, paths }, root)
  const named = () => Promise.all(Array.from({ length: 16 }, () => directories.canonical('named', root)))
  expect(new Set(await named()).size).toBe(1)
  expect(looks).toBe(1)
  await rename(folder, join(root, 'moved'))
  await nextTurn()
  await expect(named()).rejects.toThrow('does not exist')
  expect(looks).toBe(2)
  await rm(join(root, 'moved'), { recursive: true })
})
