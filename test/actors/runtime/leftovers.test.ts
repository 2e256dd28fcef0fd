// Holds threat-model §6.1.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLeftovers } from '../../../src/actors/runtime/leftovers.js'
import { temporaryName } from '../../../src/kernel/temporary-name.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createFakeEffects } from '../../fakes/effects.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-leftovers-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('removes what writes have left in a folder once it is an hour old, and nothing else', async () => {
  const { log, clock } = createFakeEffects()
  const left = temporaryName('0123456789abcdef')
  const others = ['.svc-mine.tmp', 'auth.json', 'notes.tmp', temporaryName('00000000000000ff')]
  for (const name of [left, ...others.slice(0, -1)]) writeFileSync(join(folder, name), 'a credential')
  mkdirSync(join(folder, temporaryName('00000000000000ff')))
  let later = 0
  const leftovers = createLeftovers({ files: createNodeFiles(), clock: { ...clock, now: () => Date.now() + later }, log }, [
    folder,
    join(folder, 'absent'),
  ])

  expect(await leftovers.sweep()).toBe(0)
  later = 3_590_000
  expect(await leftovers.sweep()).toBe(0)
  later = 3_600_000
  expect(await leftovers.sweep()).toBe(1)
  expect(readdirSync(folder).toSorted()).toEqual(others.toSorted())
})
