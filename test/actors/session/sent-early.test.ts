// Holds sessions-events §4.10, §4.16, §5.7: the first request of a run leaves before its message is opened, and is told as if it left after it.
import { expect, it } from 'vitest'
import { SentEarly } from '../../../src/actors/session/run/sent-early.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, type PlayedStep, says, startTestService } from '../../fakes/service.js'

const look = { id: 'look', invoke: async () => ({ title: 'Look', output: 'seen' }) }

async function start(env: Readonly<Record<string, string>> = {}) {
  const effects = createFakeEffects({ env })
  const disk = { onCommit: (): void => undefined }
  const store = openStore({ directory: ':memory:', now: () => effects.clock.now(), failpoint: () => disk.onCommit() })
  const service = await startTestService({ effects, store, tools: [look] })
  return { service, disk, id: await service.session() }
}

type Started = Awaited<ReturnType<typeof start>>

/** Runs `then` in the commit that opens the message. */
function onOpening({ service, disk }: Pick<Started, 'service' | 'disk'>, then: () => void): void {
  disk.onCommit = () => {
    if (service.store.messages.unfinished().length === 0) return
    disk.onCommit = () => undefined
    then()
  }
}

/** A step that waits until it is aborted, and what became of it. */
function waits(): { readonly step: PlayedStep; readonly isAborted: () => boolean | undefined } {
  let signal: AbortSignal | undefined
  return {
    step: (push, given) => {
      signal = given
      push({ type: 'text', delta: 'never heard' })
      return new Promise((_, reject) => given.addEventListener('abort', () => reject(new Error('aborted'))))
    },
    isAborted: () => signal?.aborted,
  }
}

const roles = ({ service, id }: Pick<Started, 'service' | 'id'>) => service.messages(id).map(({ info }) => info.role)

it('what it tells is stored by then, and its message is opened after it; later ones of the run follow theirs', async () => {
  const { service, id } = await start()
  const found: unknown[] = []
  const noted =
    (step: PlayedStep): PlayedStep =>
    (...given) => {
      found.push([service.store.runs.running().length, roles({ service, id }).join(' '), service.store.messages.unfinished().length])
      return step(...given)
    }
  service.steps.push(noted(calls({ callId: 'a', tool: 'look' })), noted(says('fine')))
  await service.prompt(id, 'go')
  await service.idle(id)
  expect(found).toEqual([
    [1, 'user', 0],
    [1, 'user assistant assistant', 1],
  ])
})

it('where it is traced it follows its message, whose span its provider is told of', async () => {
  const { service, id } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  const found: unknown[] = []
  const told: PlayedStep = (push, signal, request) => {
    found.push(service.store.messages.unfinished().length, request.headers?.['traceparent'])
    return says('fine')(push, signal, request)
  }
  service.steps.push(told)
  await service.prompt(id, 'go')
  await service.idle(id)
  expect(found).toEqual([1, expect.stringMatching(/^00-/)])
})

it('what is answered at once is told behind its message, in order', async () => {
  const { service, id } = await start()
  service.steps.push(says('one two three'))
  await service.prompt(id, 'go')
  await service.idle(id)
  const heard = service.events.flatMap(({ type, data }) => {
    if (type === 'message.part.delta') return [data['delta']]
    return type === 'message.updated' && data['info'].role === 'assistant' ? [data['info'].finish ?? 'open'] : []
  })
  expect(heard).toEqual(['open', 'one ', 'two ', 'three', 'stop'])
})

it('whose message cannot be opened is aborted, and its run fails as it would without it', async () => {
  const { service, disk, id } = await start()
  const { step, isAborted } = waits()
  service.steps.push(step)
  onOpening({ service, disk }, () => {
    throw new SvcError('store.unavailable', 'The disk is full.')
  })
  await service.prompt(id, 'go')
  await service.idle(id)
  expect(isAborted()).toBe(true)
  expect(roles({ service, id })).toEqual(['user'])
  expect(service.events.filter(({ type }) => type === 'session.error')).toMatchObject([
    { data: { error: { details: { cause: 'store.unavailable' } } } },
  ])
  service.steps.push(says('fine'))
  await service.prompt(id, 'again')
  await service.idle(id)
  expect(service.messages(id).at(-1)).toMatchObject({ info: { finish: 'stop' } })
})

it('is aborted with a run that is aborted before the message is opened', async () => {
  const { service, id } = await start()
  const { step, isAborted } = waits()
  service.steps.push((...given) => {
    void service.runtime.sessions.abort(id)
    return step(...given)
  })
  await service.prompt(id, 'go')
  await service.idle(id)
  expect(isAborted()).toBe(true)
  expect(roles({ service, id })).toEqual(['user'])
  expect(service.store.runs.running()).toEqual([])
})

it('is aborted with a run that is aborted once the message is opened, and before it is listened to', async () => {
  const { service, disk, id } = await start()
  const { step, isAborted } = waits()
  service.steps.push(step)
  onOpening({ service, disk }, () => queueMicrotask(() => void service.runtime.sessions.abort(id)))
  await service.prompt(id, 'go')
  await service.idle(id)
  expect(isAborted()).toBe(true)
  expect(service.messages(id).at(-1)).toMatchObject({ info: { finish: 'error' } })
  expect(service.events.filter(({ type }) => type === 'message.part.delta')).toEqual([])
})

it('that goes on after it was stopped is not kept', async () => {
  const sayings: ((part: StreamPart) => void)[] = []
  const sent = new SentEarly((push) => {
    sayings.push(push)
    return Promise.resolve()
  })
  const say = (delta: string) => sayings.forEach((push) => push({ type: 'text', delta }))
  say('held')
  sent.work.stop()
  say('not held')
  const heard: unknown[] = []
  await sent.take((part) => void heard.push(part))
  expect(heard).toEqual([{ type: 'text', delta: 'held' }])
})
