// Holds plugin-protocol §4, §15.3; threat-model C1, C2, C3, C4, C6.
/**
 * Programs that abuse the host, what they do times when they do it, beside a plugin that does nobody any harm: floods, frames that are huge or deep,
 * answers that come late or to nobody, forks, signals, descriptors, processor. Some, others each time, or all (`npm run campaigns`).
 */
import { afterEach, expect, test } from 'vitest'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { keepVigil, NEIGHBOUR, openWard, WARD, type Ward } from '../../e2e/plugin/hostile.js'
import { makePlace } from '../../e2e/server/place.js'
import { openScene, type Scene } from '../../e2e/server/server.js'
import { sample, SEED, WHOLE } from '../scale.js'
import { type Abuse, ABUSES, idOf, programOf, toolOf } from './generated/programs.js'

const BATCH = 8

let scene: Scene | undefined
let ward: Ward | undefined
afterEach(async () => {
  await scene?.close()
  await ward?.model.close()
  scene = undefined
  ward = undefined
})

/** What is wrong with how a call ended; nothing where it ended as it may. */
function wrong({ name, outcome }: Abuse, state: ToolPart['state'] | undefined): string[] {
  if (state?.status === 'completed' && state.output === 'ok') return []
  if (outcome === 'either' && state?.status === 'error' && state.error !== '') return []
  return [`${name}: ${JSON.stringify(state)}`]
}

test(`programs that abuse the host hurt only themselves, seed ${SEED}`, { timeout: 900_000 }, async () => {
  const opened = openScene(makePlace())
  scene = opened
  const { ward: made, server } = await openWard(opened.place, () => opened.start(WARD))
  ward = made
  const { before, ...vigil } = await keepVigil(server, opened.place, made)
  const abuses = sample(ABUSES, 2 * BATCH).slice(0, WHOLE ? undefined : 2 * BATCH)
  for (let next = 0; next < abuses.length; next += BATCH) {
    const batch = abuses.slice(next, next + BATCH)
    await made.install(batch.map((abuse) => programOf(abuse, SEED)))
    await Promise.all(batch.map((abuse) => made.until(idOf(abuse), ['active'])))
    const states = await made.turn([...batch.map((abuse) => ({ name: toolOf(abuse), input: {} })), { name: 'neighbour', input: {} }])
    // What an event has ended before the turn began has no tool any more.
    const called = batch.filter((abuse) => abuse.at !== 'event' || abuse.outcome === 'answers' || states.has(toolOf(abuse)))
    expect.soft(called.flatMap((abuse) => wrong(abuse, states.get(toolOf(abuse))))).toEqual([])
    expect.soft(states.get('neighbour')).toMatchObject({ status: 'completed', output: String(before.pid) })
    expect.soft((await made.records()).get(NEIGHBOUR)).toEqual(before.info)
    made.remove(batch.map(idOf))
    if (next === (WHOLE ? 5 * BATCH : 0)) await vigil.warm()
  }
  await made.records()
  await vigil.end()
})

test('there are a hundred, and what ends otherwise is told', () => {
  expect(new Set(ABUSES.map(({ name }) => name)).size).toBeGreaterThanOrEqual(100)
  const [polite] = ABUSES as readonly [Abuse]
  expect(wrong(polite, undefined)).toHaveLength(1)
  expect(wrong({ ...polite, outcome: 'either' }, undefined)).toHaveLength(1)
})
