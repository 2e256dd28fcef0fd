import { rmSync } from 'node:fs'
import { afterAll } from 'vitest'
import { createFakeEffects as create } from '../../src/published/testing/world/effects.js'
import type { FakeEffects, FakeOverrides } from '../../src/simulation/effects.js'

export type { FakeEffects } from '../../src/simulation/effects.js'

const roots = new Set<string>()
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true })
  roots.clear()
})

/** As `createFakeEffects` of the library; its temporary directory is removed after the test file. */
export function createFakeEffects(overrides: FakeOverrides = {}): FakeEffects {
  const effects = create(overrides)
  roots.add(effects.root)
  return effects
}
