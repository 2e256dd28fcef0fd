// Holds sessions-events §4.10, §5.7: the end of a step is stored and told with the opening of the next, where nothing lies between the two.
import { expect, it } from 'vitest'
import type { Hook } from '../../../src/ports/contributions.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, gate, says, type SeenEvent, startTestService } from '../../fakes/service.js'

const look = { id: 'look', invoke: async () => ({ title: 'Look', output: 'seen' }) }

async function start(hooks: Readonly<Record<string, Hook>> = {}) {
  const effects = createFakeEffects()
  /** How many events were told before each commit. */
  const commits: number[] = []
  const heard: { by: { readonly events: readonly SeenEvent[] } } = { by: { events: [] } }
  const store = openStore({
    directory: ':memory:',
    now: () => effects.clock.now(),
    failpoint: () => void commits.push(heard.by.events.length),
  })
  const plugin = { id: 'test.hooked', name: 'Hooked', start: () => ({ hooks }) }
  const service = await startTestService({ effects, store, tools: [look], plugins: [plugin] })
  heard.by = service
  return { service, commits, id: await service.session() }
}

const isEnd = ({ type, data }: SeenEvent) => type === 'message.updated' && data['info'].finish === 'tool-calls'
const isOpening = ({ type, data }: SeenEvent) =>
  type === 'message.updated' && data['info'].role === 'assistant' && data['info'].finish === undefined
const isSegment = ({ type }: SeenEvent) => type === 'session.execution.updated'

it('they are one commit, with one event of the execution', async () => {
  const { service, commits, id } = await start()
  service.steps.push(calls({ callId: 'a', tool: 'look' }), says('fine'))
  await service.prompt(id, 'go')
  await service.idle(id)
  const end = service.events.findIndex(isEnd)
  const opening = service.events.findIndex((event, at) => at > end && isOpening(event))
  expect(opening).toBeGreaterThan(end)
  expect(commits.filter((before) => before > end && before <= opening)).toEqual([])
  const segments = service.events.filter((event, at) => at > end && isSegment(event))
  expect(segments.map(({ data }) => Object.keys(data['snapshot'].activeSegments).length)).toEqual([1, 0])
  expect(service.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', results: [{ callId: 'a', output: 'seen' }] })
})

it('the end is told while something is waited for before the opening', async () => {
  const through = gate()
  let asked = 0
  const hook: Hook = async (_, value) => {
    if (++asked === 2) await through.promise
    return value
  }
  const { service, id } = await start({ 'chat.messages': hook })
  service.steps.push(calls({ callId: 'a', tool: 'look' }), says('fine'))
  await service.prompt(id, 'go')
  await service.until(isEnd)
  expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'tool-calls' })
  expect(service.store.executions.unfinished()).toMatchObject([{ activeSegments: {} }])
  through.open()
  await service.idle(id)
  expect(service.messages(id)).toHaveLength(3)
  expect(service.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool' })
})

it('a step that nobody opens any more has ended all the same', async () => {
  const through = gate()
  let asked = 0
  const hook: Hook = async (_, value) => {
    if (++asked < 2) return value
    through.open()
    return new Promise(() => undefined)
  }
  const { service, id } = await start({ 'chat.messages': hook })
  service.steps.push(calls({ callId: 'a', tool: 'look' }), says('never said'))
  await service.prompt(id, 'go')
  await through.promise
  await service.runtime.sessions.abort(id)
  await service.idle(id)
  expect(service.messages(id)).toMatchObject([
    { info: { role: 'user' } },
    { info: { finish: 'tool-calls' }, parts: [{ type: 'step-start' }, { state: { status: 'completed' } }, { type: 'step-finish' }] },
  ])
})
