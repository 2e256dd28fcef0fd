// Holds http-contract §2.10.
import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createManagedTimes } from '../../../../src/actors/resource/managed/managed-times.js'
import type { ManagedResource } from '../../../../src/protocol/resource/managed.js'
import { createManagedPlace } from './place.js'

const LONG_AGO = 1_700_000_000

test.each(['agents', 'commands', 'skills'] as const)(
  '%s keep the time they were made at when they are replaced, and lose it when deleted',
  async (kind) => {
    const { management, here } = createManagedPlace()
    const operations = management[kind]
    const request = (content: string) => ({ content, description: 'What it does.' }) as never
    const made = await operations.create(here, 'one', request('first'), undefined)
    utimesSync(made.provenance, LONG_AGO, LONG_AGO)
    const before = await operations.get(here, 'one', undefined)
    expect([before.createdAt, before.updatedAt]).toEqual([LONG_AGO * 1000, LONG_AGO * 1000])

    for (const content of ['second', 'third']) {
      const changed: ManagedResource = await operations.update(here, 'one', request(content), undefined)
      expect(changed.createdAt).toBe(LONG_AGO * 1000)
      expect(changed.updatedAt).toBe(Math.floor(statSync(changed.provenance).mtimeMs))
    }
    expect((await operations.list(here)).find(({ id }) => id === 'one')?.createdAt).toBe(LONG_AGO * 1000)

    await operations.delete(here, 'one', undefined)
    const again = await operations.create(here, 'one', request('again'), undefined)
    expect(again.createdAt).toBe(again.updatedAt)
  },
)

test('times are known to the next process, and what cannot be read is written anew', async () => {
  const { effects, at } = createManagedPlace()
  const path = at('one.md')
  await createManagedTimes(effects).replacing(path, 5.5)
  expect(await createManagedTimes(effects).createdAt(path, 9)).toBe(5)
  writeFileSync(join(effects.paths.state, 'managed-times.json'), '{"version":1,"created":{"x"')
  const broken = createManagedTimes(effects)
  expect(await broken.createdAt(path, 9)).toBe(9)
  await broken.replacing(path, 7)
  expect(await createManagedTimes(effects).createdAt(path, 9)).toBe(7)
})

test('a skill that lies on disk is answered with its bundle and revision, so that it can be edited', async () => {
  const { management, here } = createManagedPlace()
  const made = await management.skills.create(here, 'one', { content: 'first', files: { 'a.txt': 'A' } }, undefined)
  writeFileSync(join(dirname(made.provenance), 'a.txt'), 'by hand')
  const { definition, revision } = await management.skills.get(here, 'one', undefined)
  expect(definition).toMatchObject({ bundle: { content: 'first', files: { 'a.txt': 'by hand' } }, bundleRevision: revision })
  const listed = (await management.skills.list(here)).find(({ id }) => id === 'one')
  expect(listed?.definition).not.toHaveProperty('bundle')
})
