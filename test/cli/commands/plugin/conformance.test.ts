/** Checks of `svc plugin test` that end by a limit, without it: a package that says nothing, and one that does not end. */
import { expect, test } from 'vitest'
import { AT_FIRST, AT_LAST, type Started } from '../../../../src/cli/commands/plugin/test/conformance.js'
import type { Harness } from '../../../../src/cli/commands/plugin/test/harness.js'

function started(harness: Partial<Harness>): Started {
  return { harness: harness as Harness, reply: { result: null }, offered: undefined, revision: '', revisionNow: async () => '' }
}

const named = (name: string) => [...AT_FIRST, ...AT_LAST].find((each) => each.name === name)

test('silence is no answer to an unknown method', async () => {
  const harness = { call: async () => Promise.reject(new Error('it was not answered')) }
  await expect(named('unknown method')?.check(started(harness))).rejects.toThrow('it was not answered')
})

test('what does not end is told, and what ends in time is let go', async () => {
  const answers = { call: async () => ({ result: null }), closeInput: () => undefined }
  const stays = { ...answers, ended: new Promise<never>(() => undefined), until: async (isThere: () => boolean) => isThere() }
  expect(await named('shutdown')?.check(started(stays))).toBe('it was still there after 1.5 s')
  const ended = Promise.resolve({ exitCode: 0, signal: null })
  const ends = { ...answers, ended, until: async (isThere: () => boolean) => (await ended, isThere()) }
  expect(await named('shutdown')?.check(started(ends))).toBeUndefined()
})
