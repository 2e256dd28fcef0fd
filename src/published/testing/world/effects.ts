import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNodeFiles } from '../../../platform/node/files/node-files.js'
import { type FakeEffects, type FakeOverrides, pathsIn, playedEffects } from '../../../simulation/effects.js'

/**
 * Effects for tests: those of a played world, and real files below a temporary directory of its own, which whoever made it removes. Any
 * member can be overridden.
 */
export function createFakeEffects(overrides: FakeOverrides = {}): FakeEffects {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-test-')))
  for (const path of Object.values<string>({ ...pathsIn(root) })) mkdirSync(path)
  // The clock stands still within a turn, so nothing in it takes long.
  return playedEffects(root, { files: createNodeFiles(() => undefined), ...overrides })
}
