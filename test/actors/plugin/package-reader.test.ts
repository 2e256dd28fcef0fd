// Holds plugin-protocol §1.3.
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Effects } from '../../../src/ports/effects.js'
import { createPackageReader } from '../../../src/actors/plugin/package/package-reader.js'
import { createFakeClock } from '../../../src/simulation/clock.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { writePackage } from '../../fakes/packages.js'

const HOUR = 3_600_000

/** Effects that count how often content is opened; the clock shows `later` ms after now. */
function counted(later: number) {
  const effects = createFakeEffects({ clock: createFakeClock(Date.now() + later) })
  let opened = 0
  const files: Effects['files'] = {
    ...effects.files,
    async *walk(directory, options) {
      for await (const entry of effects.files.walk(directory, options)) {
        yield { ...entry, chunks: () => (opened++, entry.chunks()) }
      }
    },
  }
  return { reader: createPackageReader({ ...effects, files }), root: join(effects.root, 'package'), opened: () => opened }
}

it('reads a package again only after a change', async () => {
  const { reader, root, opened } = counted(HOUR)
  writePackage(root, { one: '1', two: '22' })
  const first = await reader.read(root)
  expect(first).toMatchObject({ bytes: 3, fileCount: 2 })
  expect(await reader.read(root)).toEqual(first)
  expect(opened()).toBe(2)
  writeFileSync(join(root, 'one'), '3')
  const second = await reader.read(root)
  expect(second.revision).not.toBe(first.revision)
  expect(opened()).toBe(4)
})

it('does not trust time stamps of the present moment', async () => {
  const { reader, root, opened } = counted(0)
  writePackage(root, { one: '1' })
  await reader.read(root)
  await reader.read(root)
  expect(opened()).toBe(2)
})

it('shares one reading among all who ask before it begins, and none with those who ask after', async () => {
  const { reader, root, opened } = counted(0)
  writePackage(root, { one: '1' })
  const begun = reader.read(root)
  writeFileSync(join(root, 'one'), '2')
  const later = [reader.read(root), reader.read(root), reader.read(root)]
  const [a, b, c] = await Promise.all(later)
  expect([b, c]).toEqual([a, a])
  await begun
  expect(opened()).toBe(2)
  expect(await reader.read(root)).toEqual(a)
})

it('recovers from a package that could not be read', async () => {
  const { reader, root } = counted(HOUR)
  const failing = reader.read(root)
  const queued = reader.read(root)
  await expect(failing).rejects.toMatchObject({ code: 'plugin.invalid' })
  await expect(queued).rejects.toMatchObject({ code: 'plugin.invalid' })
  writePackage(root, { f: 'A' })
  utimesSync(join(root, 'f'), 1, 1)
  expect((await reader.read(root)).revision).toBe('sha256:6a1b3f24c9fd692c325060ab3b2f87c96adca5f03f6fbeb32036902b35a67e72')
})
