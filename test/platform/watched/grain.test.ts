import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFileProbe } from '../../../src/platform/watched/file-probe.js'
import { createFakeClock } from '../../../src/simulation/clock.js'
import { createFakeEffects } from '../../fakes/effects.js'

it.each([
  [0, true],
  [2000, true],
  [2500, false],
])('what changed %i ms ago may have changed again at the same time, as coarse file systems count: %s', async (ago, isFresh) => {
  const { files, root } = createFakeEffects()
  const path = join(root, 'svc.json')
  writeFileSync(path, '{}')
  const { modifiedMs = 0 } = (await files.stat(path)) ?? {}
  const probe = createFileProbe({ files, clock: createFakeClock(modifiedMs + ago) })
  await probe.identity(path)
  expect(probe.isFresh()).toBe(isFresh)
})
