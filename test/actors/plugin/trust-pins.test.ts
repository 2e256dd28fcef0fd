import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createPackageStore } from '../../../src/actors/plugin/package/package-store.js'
import { hashPackage } from '../../../src/actors/plugin/package/revision.js'
import { createTrustPins } from '../../../src/actors/plugin/package/trust-pins.js'
import { TrustRecord } from '../../../src/protocol/plugin/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { makeExecutable, writePackage, writeTwins } from '../../fakes/packages.js'

async function twins() {
  const effects = createFakeEffects()
  const roots = writeTwins(join(effects.root, 'twins'))
  const [one, two] = await Promise.all(roots.map(async (root) => ({ id: 'dev.example.one', ...(await hashPackage(effects, root)) })))
  if (one === undefined || two === undefined) throw new Error('two were written')
  const store = createPackageStore({ effects, directory: join(effects.root, 'copies') })
  const record = TrustRecord.parse({ workspaceId: '/w', packageId: 'dev.example.one', revision: one.revision })
  return { store, roots, one, two, record }
}

const digests = async (records: Promise<readonly TrustRecord[]>) => (await records).map(({ digest }) => digest)

it('an approval with a digest stays as it is', async () => {
  const { store, one, two, record } = await twins()
  const own = { ...record, digest: two.digest }
  expect(await createTrustPins(store).complete(one, [own])).toEqual([own])
})

it('an approval without one means what our copy holds, whatever lies there now', async () => {
  const { store, roots, one, two, record } = await twins()
  await store.keep(roots[0], one)
  const pins = createTrustPins(store)
  expect(await digests(pins.complete(two, [record]))).toEqual([one.digest])
  expect(await digests(pins.complete(one, [record]))).toEqual([one.digest])
})

it('an approval of native code without one approves none, whatever is found out', async () => {
  const { store, roots, one, record } = await twins()
  await store.keep(roots[0], one)
  const [completed] = await createTrustPins(store).complete(one, [{ ...record, nativeApproved: true }])
  expect(completed).toMatchObject({ digest: one.digest, nativeApproved: false })
  const [own] = await createTrustPins(store).complete(one, [{ ...record, digest: one.digest, nativeApproved: true }])
  expect(own).toMatchObject({ nativeApproved: true })
})

it('without a copy it means what was seen before it was approved', async () => {
  const { store, one, two, record } = await twins()
  const pins = createTrustPins(store)
  await pins.complete(one, [])
  expect(await digests(pins.complete(two, [record]))).toEqual([one.digest])
  expect(await digests(pins.complete(one, [record]))).toEqual([one.digest])
})

it('without either it means content that shares its revision with no other such content, and nothing that could be moved about', async () => {
  const { store, one, two, record } = await twins()
  expect(await digests(createTrustPins(store).complete(two, [record]))).toEqual([two.digest])
  const pins = createTrustPins(store)
  expect(await digests(pins.complete(one, [record]))).toEqual([undefined])
  expect(await digests(pins.complete(one, [record]))).toEqual([undefined])
  expect(await digests(pins.complete(two, [record]))).toEqual([undefined])
})

it('a digest tells modes apart, and a plain package from one with the byte that separates', async () => {
  const effects = createFakeEffects()
  const root = writePackage(join(effects.root, 'p'), { run: '#!/bin/sh\n' })
  const before = await hashPackage(effects, root)
  makeExecutable(join(root, 'run'))
  const after = await hashPackage(effects, root)
  expect(after.revision).toBe(before.revision)
  expect(after.digest).not.toBe(before.digest)
  const { one, two } = await twins()
  expect([before.isPlain, one.isPlain, two.isPlain]).toEqual([true, false, true])
})
