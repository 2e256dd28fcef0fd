import { expect, test } from 'vitest'
import { renderPrompt } from '../../../src/actors/session/run/step/rendered-prompt.js'
import type { World } from '../../../src/actors/session/run/world.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

const PLACE = { sessionId: 'ses_1', directory: '/work' }

function worldOf(call: (request: unknown) => Promise<{ content: string; system: boolean }>, id = 'agent.build'): World {
  const prompts = [{ pluginId: 'p', contribution: { id, priority: 0, call }, use: (work: () => Promise<unknown>) => work() }]
  const target = { agent: { record: { name: 'build', prompt: 'be brief' } }, model: { ref: { id: 'm', providerId: 'v' } } }
  return { view: { prompts }, target } as unknown as World
}

const promptOf = ({ target }: World) => target.agent.record.prompt

test('one that nobody renders is the one there was', async () => {
  const world = worldOf(() => Promise.reject(new Error('not asked')), 'agent.plan')
  expect(await renderPrompt(createFakeEffects(), world, PLACE, new AbortController())).toEqual({ world, failures: [] })
})

test('is asked for with what it is made of', async () => {
  const asked: unknown[] = []
  const world = worldOf(async (request) => {
    asked.push(request)
    return { content: 'be briefer', system: true }
  })
  const rendered = await renderPrompt(createFakeEffects(), world, PLACE, new AbortController())
  expect([promptOf(rendered.world), promptOf(world), rendered.failures]).toEqual(['be briefer', 'be brief', []])
  expect(asked).toEqual([
    {
      promptId: 'agent.build',
      variables: { text: 'be brief', agent: 'build', sessionId: 'ses_1', providerId: 'v', modelId: 'm' },
      service: { workspaceId: '/work', directory: '/work', options: {} },
    },
  ])
})

test('a text that is too long, and one that never comes, leave it as it was', async () => {
  const effects = createFakeEffects()
  const stopping = new AbortController()
  const long = await renderPrompt(
    effects,
    worldOf(async () => ({ content: 'x'.repeat(LIMITS.plugins.contextBytes + 1), system: true })),
    PLACE,
    stopping,
  )
  expect([promptOf(long.world), long.failures]).toMatchObject(['be brief', [{ hook: 'prompt.render', pluginId: 'p' }]])
  const late = renderPrompt(
    effects,
    worldOf(() => new Promise(() => undefined)),
    PLACE,
    stopping,
  )
  await effects.clock.advanceAsync(LIMITS.plugins.promptWait)
  const { world, failures } = await late
  expect([promptOf(world), failures[0]?.message]).toEqual([
    'be brief',
    `The prompt "agent.build" stays as it was: it did not answer within ${LIMITS.plugins.promptWait} ms`,
  ])
})

test('a run that is stopped meanwhile is not held up', async () => {
  const stop = new AbortController()
  const rendered = renderPrompt(
    createFakeEffects(),
    worldOf(() => new Promise(() => undefined)),
    PLACE,
    stop,
  )
  stop.abort(new Error('stopped'))
  await expect(rendered).rejects.toThrow('stopped')
})
