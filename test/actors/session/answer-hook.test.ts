// Holds plugin-protocol §5.3.
import { expect, test } from 'vitest'
import { hookAnswer } from '../../../src/actors/session/run/answer-hook.js'
import type { StepScope } from '../../../src/actors/session/run/run-scope.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Hook } from '../../../src/ports/contributions.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeView, registeredHook } from '../../fakes/plugins.js'

function setUp(...hooks: readonly Hook[]) {
  const effects = createFakeEffects()
  const replaced: unknown[] = []
  const chain = hooks.map((hook, index) => registeredHook(`test.${index}`, hook))
  const step = {
    world: {
      view: createFakeView({ hooks: { 'response.text': chain } }),
      target: { agent: { record: { name: 'build' } }, model: { ref: { providerId: 'test', id: 'scripted' } } },
    },
    recorder: {
      info: () => ({ sessionId: 'ses_1' }),
      texts: () => [{ messageId: 'msg_1', partId: 'prt_1', text: 'as it was' }],
      replaceText: (replacement: unknown) => replaced.push(replacement),
    },
  } as unknown as StepScope
  const abort = new AbortController()
  return { effects, replaced, chain, abort, hooked: () => hookAnswer({ effects }, step, abort) }
}

test('the text of an answer goes through every hook, and is replaced by what comes out', async () => {
  const seen: unknown[] = []
  const add =
    (word: string): Hook =>
    async (context, value) => (seen.push(context), `${String(value)} ${word}`)
  const { hooked, replaced } = setUp(add('one'), add('two'))
  await hooked()
  expect(replaced).toEqual([{ partId: 'prt_1', length: 9, text: 'as it was one two' }])
  expect(seen[0]).toEqual({
    sessionId: 'ses_1',
    messageId: 'msg_1',
    partId: 'prt_1',
    agent: 'build',
    providerId: 'test',
    modelId: 'scripted',
  })
})

test('a text that no hook changes is not replaced', async () => {
  const { hooked, replaced } = setUp(async (_context, value) => value)
  await hooked()
  expect(replaced).toEqual([])
})

test.each<[string, Hook]>([
  ['fails', () => Promise.reject(new Error('broken'))],
  ['answers no text', async () => ({ text: 'x' })],
  ['answers too much', async () => 'x'.repeat(LIMITS.pluginResponses.textBytes + 1)],
])('a hook that %s changes nothing, whatever the ones before have made of it', async (_what, hook) => {
  const { effects, hooked, replaced } = setUp(async () => 'other', hook)
  await hooked()
  expect(replaced).toEqual([])
  expect(effects.logs.map(({ message }) => message)).toEqual(['a hook failed and was ignored'])
})

test('a hook that does not answer is waited for so long and no longer', async () => {
  const { effects, hooked, replaced } = setUp(() => new Promise(() => undefined))
  const done = hooked()
  effects.clock.advance(LIMITS.pluginResponses.delay)
  await done
  expect(replaced).toEqual([])
})

test('an abort ends the wait at once, as an abort', async () => {
  const { hooked, abort } = setUp(() => new Promise(() => undefined))
  const done = hooked()
  abort.abort(new Error('stopped'))
  await expect(done).rejects.toThrow('stopped')
})
