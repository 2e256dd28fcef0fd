// Holds sessions-events §4.4, §4.10, §5.7: a prompt to a session that rests is admitted and claimed at once, and tells what it would tell otherwise.
import { expect, it } from 'vitest'
import { nextTurn } from '../../../src/kernel/pause.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { openStore } from '../../../src/store/open.js'
import { counted } from '../../fakes/counted.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { says, startTestService, type SeenEvent, type TestService } from '../../fakes/service.js'

const CONTEXT = 'session.context.updated'

/** Without what differs from prompt to prompt: ids and numbers. */
function plain({ type, data }: SeenEvent): unknown {
  const json = JSON.stringify({ type, data }, (_key, value: unknown) => (typeof value === 'number' ? 0 : value))
  return JSON.parse(json.replaceAll(/\b([a-z]{3})_[0-9A-Za-z]+/g, '$1_')) as unknown
}

async function turn(service: TestService, id: string, text: string): Promise<readonly SeenEvent[]> {
  const before = service.events.length
  service.steps.push(says('fine'))
  await service.prompt(id, text)
  await service.idle(id)
  return service.events.slice(before).filter(({ type }) => type !== CONTEXT)
}

it('the first prompt of a session is claimed after its admission, the next with it, and both are told alike', async () => {
  const service = await startTestService()
  const id = await service.session()
  const first = await turn(service, id, 'hi')
  const next = await turn(service, id, 'hi')
  expect(next.map(plain)).toEqual(first.map(plain))
  expect(next.slice(0, 5).map(({ type, data }) => [type, (data['queue'] as { worker?: boolean } | undefined)?.worker])).toEqual([
    ['session.prompt.admitted', undefined],
    ['session.queue.updated', false],
    ['session.status', undefined],
    ['session.queue.updated', true],
    ['session.updated', undefined],
  ])
})

it('admission and claim are one commit', async () => {
  const service = await startTestService()
  const [early, late] = [await service.session(), await service.session()]
  await turn(service, early, 'hi')
  const { commits } = await counted(async () => void (await turn(service, early, 'again')))
  const first = await counted(async () => void (await turn(service, late, 'hi')))
  expect(first.commits - commits).toBeGreaterThanOrEqual(2)
})

it('of two prompts at once each has its own run, in their order', async () => {
  const service = await startTestService()
  const id = await service.session()
  await turn(service, id, 'hi')
  service.steps.push(says('one'), says('two'))
  await Promise.all([
    service.runtime.sessions.submitPrompt(TRUSTED_CALLER, id, { prompt: 'first', delivery: 'queue' }, 'prompt'),
    service.runtime.sessions.submitPrompt(TRUSTED_CALLER, id, { prompt: 'second', delivery: 'queue' }, 'prompt'),
  ])
  await service.idle(id)
  const texts = service.messages(id).map(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''))
  expect(texts).toEqual(['hi', 'fine', 'first', 'one', 'second', 'two'])
})

it('what cannot be committed is refused, and leaves the session as it was', async () => {
  const effects = createFakeEffects()
  const disk = { isFull: false }
  const store = openStore({
    directory: ':memory:',
    now: () => effects.clock.now(),
    failpoint() {
      if (disk.isFull) throw new SvcError('store.unavailable', 'The disk is full.')
    },
  })
  const service = await startTestService({ effects, store })
  const id = await service.session()
  await turn(service, id, 'hi')
  disk.isFull = true
  await expect(service.prompt(id, { prompt: 'again', messageId: 'msg_2' })).rejects.toMatchObject({ code: 'store.unavailable' })
  disk.isFull = false
  expect(service.store.queue.count(id)).toBe(0)
  expect(service.store.runs.running()).toEqual([])
  expect(service.running.counters()).toMatchObject({ liveMessages: 0 })
  await service.idle(id)
  service.steps.push(says('there'))
  await service.prompt(id, { prompt: 'again', messageId: 'msg_2' })
  await service.idle(id)
  expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
})

const stateOf = (service: TestService, id: string) =>
  service.runtime.inspector.tree().actors.find((actor) => actor.id === `session:${id}`)?.state

const roles = (service: TestService, id: string) => service.messages(id).map(({ info }) => info.role)

it('a session is woken behind the request of the run that was claimed for it', async () => {
  const service = await startTestService()
  const id = await service.session()
  await turn(service, id, 'hi')
  const found: unknown[] = []
  service.steps.push((...given) => {
    found.push(stateOf(service, id))
    return says('there')(...given)
  })
  await service.prompt(id, 'again')
  await service.idle(id)
  expect(found).toEqual([['idle']])
})

it.each(['abort', 'delete', 'stop'] as const)('what is said to it before that finds its run: %s', async (what) => {
  const service = await startTestService()
  const id = await service.session()
  await turn(service, id, 'hi')
  let aborted: Promise<unknown> | undefined
  let signal: AbortSignal | undefined
  service.steps.push((_, given) => {
    signal = given
    const { sessions } = service.runtime
    aborted = what === 'stop' ? service.stop() : what === 'delete' ? sessions.delete(TRUSTED_CALLER, id) : sessions.abort(id)
    return new Promise((_resolve, reject) => given.addEventListener('abort', () => reject(new Error('aborted'))))
  })
  await service.prompt(id, 'again').catch(() => undefined)
  await aborted
  await nextTurn()
  expect(signal?.aborted).toBe(true)
  expect(service.running.counters()).toMatchObject({ liveMessages: 0 })
  if (what !== 'abort') return
  expect(roles(service, id)).toEqual(['user', 'assistant', 'user'])
  expect(service.store.runs.running()).toEqual([])
  await expect(turn(service, id, 'and again')).resolves.not.toHaveLength(0)
})
