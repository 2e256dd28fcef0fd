// Holds plugin-protocol §1.
import { expect, test } from 'vitest'
import { answeredBy, hasTakenUp } from '../../../../src/cli/commands/plugin/plugin-taken-up.js'
import type { PackageLifecycleInfo, PackageState } from '../../../../src/protocol/plugin/plugin.js'

type Lives = Pick<PackageLifecycleInfo, 'packageId' | 'state' | 'diagnostics' | 'revision' | 'retainedRevision' | 'generation'>
const OLD = `sha256:${'a'.repeat(64)}`
const NEW = `sha256:${'b'.repeat(64)}`
const lives = (state: PackageState, more: Partial<Lives> = {}): Lives => ({
  packageId: 'dev.example.hello',
  state,
  revision: NEW,
  diagnostics: [],
  generation: 1,
  ...more,
})
const FAILED: Partial<Lives> = { diagnostics: [{ code: 'failed', message: 'agent.lua:8: a nil value.' }], retainedRevision: OLD }

test('content is taken up when it serves, or has not started; not while something else was read or it starts', () => {
  const states: PackageState[] = [
    'active',
    'degraded',
    'failed',
    'disabled',
    'loading',
    'trusted',
    'enabled',
    'permission-required',
    'update-available',
  ]
  expect(states.filter((state) => hasTakenUp(lives(state), NEW))).toEqual(['active', 'degraded', 'failed', 'disabled'])
  expect(hasTakenUp(lives('update-available', FAILED), NEW)).toBe(true)
  expect(hasTakenUp(lives('active'), OLD)).toBe(false)
})

test('which content answered is told, and why it is not what is in the folder', () => {
  const active = lives('active')
  expect(answeredBy(active, active, NEW)).toBe('answered by sha256:bbbbbbbbbbbb')
  const failed = lives('update-available', FAILED)
  expect(answeredBy(failed, failed, NEW)).toBe(
    'answered by sha256:aaaaaaaaaaaa, not by what is in the folder: it serves with earlier content, because what it is now did not start: agent.lua:8: a nil value -> svc logs --plugin dev.example.hello',
  )
  const waiting = lives('update-available', { retainedRevision: OLD })
  expect(answeredBy(waiting, waiting, NEW)).toContain(
    'not by what is in the folder: it serves with what was approved; its content changed since',
  )
  expect(answeredBy(active, active, OLD)).toBe(
    'answered by sha256:bbbbbbbbbbbb, not by what is in the folder: it has not been taken up yet',
  )
  expect(answeredBy(active, { ...active, generation: 2, retainedRevision: OLD }, NEW)).toContain('exchanged')
  expect(answeredBy(active, { ...active, generation: 2 }, NEW)).toContain('started anew')
  expect(answeredBy(active, undefined, NEW)).toContain('exchanged')
})
