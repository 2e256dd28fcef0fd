// Holds subsystems l.4, threat-model §7.
/** How fast subagents are begun and ended: counted between two turns of the event loop. */
import { expect, test } from 'vitest'
import { nextTurn } from '../../../src/kernel/pause.js'
import { createFamily, type FamilyOptions } from '../../../src/plugins/external/subagents/family.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { createFakeEffects } from '../../fakes/effects.js'

const { most } = LIMITS.external.children

/** A family whose sessions are made at once and begin to run in the turn after; what was done in which turn of the loop. */
function familyInTurns() {
  const done: string[] = []
  const perTurn: number[] = []
  const nested: FamilyOptions['nested'] = new Map()
  const settled = new Map<string, Promise<void>>()
  const parts: StreamPart[] = []
  let made = 0
  const session = (id: string) => ({ id, directory: '/work' }) as unknown as Session
  const host = {
    effects: createFakeEffects(),
    actors: { add: () => undefined },
    agents: async () => [],
    todos: { replace: () => undefined },
    stopping: new AbortController().signal,
    sessions: {
      get: session,
      async create() {
        done.push('made')
        return session(`child-${++made}`)
      },
      async prompt(id: string) {
        const play = nested.get(id)
        const work = { sessionId: id, directory: '/work', prompt: '', before: () => [], unattended: false }
        const desk = { call: async () => ({ ok: false as const, error: '' }) }
        settled.set(
          id,
          (async () => {
            await nextTurn()
            await play?.(work, () => undefined, desk, new AbortController().signal).catch(() => undefined)
            done.push('ended')
          })(),
        )
      },
      settled: async (id: string) => settled.get(id),
      abort: async () => true,
      outcome: () => ({ ok: true, text: '' }),
      changes: () => ({}),
    },
  } as unknown as FamilyOptions['host']
  const family = createFamily({
    host,
    nested,
    provider: 'codex',
    sessionId: 'parent',
    directory: '/work',
    unattended: false,
    signal: new AbortController().signal,
    push: (part) => void parts.push(part),
    desk: { call: async () => ({ ok: false, error: '' }) },
    own: () => 'own',
    onUsage: () => undefined,
    cancel: () => undefined,
  })
  return {
    family,
    parts,
    perTurn,
    done,
    /** What is done in each turn from now on, until nothing is unsettled. */
    async turns() {
      let known = done.length
      for (let step = 0; step < 10; step++) await Promise.resolve()
      do {
        await nextTurn()
        perTurn.push(done.length - known)
        known = done.length
      } while (family.earlier.isUnsettled())
    },
  }
}

const announced = (at: number, state: string) => ({
  sessionUpdate: 'subagent_update',
  sessionId: `sub-${at}`,
  title: `${at}`,
  state: { state },
})

test('of subagents that are announced at once each is begun in a turn of its own, and the agent is heard again after that', async () => {
  const { family, turns, perTurn, done } = familyInTurns()
  for (let at = 0; at < 2 * most; at++) family.take('own', announced(at, 'running'))
  for (let step = 0; step < 10; step++) await Promise.resolve()
  expect(family.earlier.isUnsettled()).toBe(true)
  expect(done).toEqual([])
  await turns()
  expect(done.filter((each) => each === 'made')).toHaveLength(most)
  expect(Math.max(...perTurn)).toBe(1)
  await family.end('stopped')
})

test.each(['told by their agent', 'left when the turn ends'])(
  'of subagents that end at once, %s, each ends in a turn of its own',
  async (how) => {
    const { family, turns, perTurn, done, parts } = familyInTurns()
    for (let at = 0; at < most; at++) family.take('own', announced(at, 'running'))
    await turns()
    perTurn.splice(0)
    if (how === 'told by their agent') for (let at = 0; at < most; at++) family.take('own', announced(at, 'idle'))
    let isOver = false
    const ended = family.end('completed').then(() => (isOver = true))
    for (let known = done.length; !isOver; known = done.length) {
      await nextTurn()
      perTurn.push(done.length - known)
    }
    await ended
    expect(done.filter((each) => each === 'ended')).toHaveLength(most)
    expect(Math.max(...perTurn)).toBe(1)
    expect(parts.filter(({ type }) => type === 'tool-result')).toHaveLength(most)
  },
)
