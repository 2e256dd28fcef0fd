// Holds sessions-events §4.11, §5.7: the result that ends the last open call of a step is stored and told with the end of the step.
import { expect, it } from 'vitest'
import { SvcError } from '../../../src/protocol/errors.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { gate, type PlayedStep, says, type SeenEvent, startTestService } from '../../fakes/service.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
const look = { id: 'look', invoke: async () => ({ title: 'Look', output: 'seen' }) }

/** One call, and the end of the answer; the stream ends with `until`. */
const callsUntil =
  (until: Promise<void>): PlayedStep =>
  async (push) => {
    push({ type: 'tool-call', callId: 'a', tool: 'look', input: '{"value":"x"}' })
    push({ type: 'finish', reason: 'tool-calls', usage: USAGE })
    await until
  }

async function start() {
  const effects = createFakeEffects()
  /** How many events were told before each commit. */
  const commits: number[] = []
  const disk = { isFull: false, refused: 0 }
  const heard: { by: { readonly events: readonly SeenEvent[] } } = { by: { events: [] } }
  const store = openStore({
    directory: ':memory:',
    now: () => effects.clock.now(),
    failpoint() {
      commits.push(heard.by.events.length)
      if (!disk.isFull) return
      disk.refused++
      throw new SvcError('store.unavailable', 'The disk is full.')
    },
  })
  const service = await startTestService({ effects, store, tools: [look] })
  heard.by = service
  return { service, commits, disk, id: await service.session() }
}

const isResult = ({ type, data }: SeenEvent) => type === 'message.part.updated' && data['part'].state?.status === 'completed'

it('they are one commit when the answer is over', async () => {
  const { service, commits, id } = await start()
  service.steps.push(callsUntil(Promise.resolve()), says('fine'))
  await service.prompt(id, 'go')
  await service.idle(id)
  const result = service.events.findIndex(isResult)
  const end = service.events.findIndex(
    ({ type, data }, at) => at > result && type === 'message.updated' && data['info'].finish === 'tool-calls',
  )
  expect(end).toBe(result + 1)
  expect(commits).toContain(result)
  expect(commits.filter((before) => before > result && before <= end)).toEqual([])
})

it('the result is told while the answer is not over', async () => {
  const { service, id } = await start()
  const over = gate()
  service.steps.push(callsUntil(over.promise), says('fine'))
  await service.prompt(id, 'go')
  await service.until(isResult)
  expect(service.messages(id)[1]?.parts.find(({ type }) => type === 'tool')).toMatchObject({ state: { status: 'completed' } })
  over.open()
  await service.idle(id)
})

it('a result that cannot be stored leaves its call open, which ends with the step', async () => {
  const { service, disk, id } = await start()
  const over = gate()
  service.steps.push(callsUntil(over.promise), says('fine'))
  await service.prompt(id, 'go')
  await service.until(({ type, data }) => type === 'message.part.updated' && data['part'].state?.status === 'running')
  disk.isFull = true
  await expect.poll(() => disk.refused).toBe(1)
  disk.isFull = false
  over.open()
  await service.idle(id)
  expect(service.messages(id)[1]?.parts.find(({ type }) => type === 'tool')).toMatchObject({ state: { status: 'error' } })
  expect(service.events.some(isResult)).toBe(false)
})
