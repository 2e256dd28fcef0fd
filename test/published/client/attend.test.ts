import { describe, expect, test } from 'vitest'
import { createTakenBack } from '../../../src/cli/commands/run/taken-back.js'
import { calls, gate, says } from '../../fakes/service.js'
import { openBench } from './bench.js'

const ASKS = { permission: { '*': 'allow', echo: 'ask' } }
const tool = {
  id: 'echo',
  needs: ({ value }: { value: string }) => [{ permission: 'echo', patterns: [value], title: `echo ${value}` }],
  invoke: ({ value }: { value: string }) => Promise.resolve({ title: value, output: `out ${value}`, metadata: {} }),
}

/** A session whose run, prompted by somebody else, waits for an answer. */
async function waiting() {
  const bench = await openBench({ tools: [tool], config: ASKS, steps: [calls({ callId: 'a', tool: 'echo' }), says('Done.')] })
  const { id } = await bench.client.sessions.create({ body: { title: 'Test' } })
  await bench.service.prompt(id, 'go')
  await bench.service.until(({ type }) => type === 'permission.asked')
  return { ...bench, id }
}

describe('a session that waits for an answer', () => {
  test('is answered by whoever attends it: what is asked already, and what is asked later', async () => {
    const { client, service, id } = await waiting()
    const ended = new AbortController()
    const asked: string[] = []
    const attended = client.attend(id, {
      signal: ended.signal,
      onPermission({ title }) {
        asked.push(title)
        return 'once'
      },
    })
    await service.until(({ type }) => type === 'permission.replied')
    await service.idle(id)
    service.steps.push(calls({ callId: 'b', tool: 'echo' }), says('Done.'))
    await service.prompt(id, 'again')
    await service.idle(id)
    ended.abort()
    await attended
    expect(asked).toEqual(['echo a', 'echo b'])
  })

  test('is left to others where the callback leaves it, and what a callback throws ends attending', async () => {
    const { client, service, id } = await waiting()
    const ended = new AbortController()
    const seen = gate()
    const idle = client.attend(id, {
      signal: ended.signal,
      onPermission() {
        seen.open()
        return undefined
      },
    })
    await seen.promise
    ended.abort()
    await idle
    expect(service.runtime.interactions.permissions({ ...OPERATOR }, id)).toHaveLength(1)
    await expect(
      client.attend(id, {
        signal: new AbortController().signal,
        onPermission() {
          throw new RangeError('out of ideas')
        },
      }),
    ).rejects.toThrow('out of ideas')
    await expect(client.attend(id, {} as never)).rejects.toThrow('attend needs a signal')
  })

  test('is answered by a prompt that waits behind its run, when that attends, and by no other', async () => {
    const { client, service, id } = await waiting()
    service.steps.push(says('To the other.'))
    const asked: string[] = []
    const onPermission = ({ title }: { title: string }) => {
      asked.push(title)
      return 'once' as const
    }
    const silent = client.prompt(id, { prompt: 'mine', delivery: 'queue' }, { onPermission: () => Promise.reject(new Error('not ours')) })
    const result = silent.result()
    await service.until(({ type, data }) => type === 'session.prompt.admitted' && data['delivery'] === 'queue')
    service.steps.push(says('To the last.'))
    const attending = client.prompt(id, { prompt: 'last', delivery: 'queue' }, { onPermission, attends: true })
    await expect(attending.result()).resolves.toMatchObject({ text: 'To the last.', error: undefined })
    await expect(result).resolves.toMatchObject({ text: 'To the other.' })
    expect(asked).toEqual(['echo a'])
  })
})

const OPERATOR = { subject: 'local', tenantId: 'local', authenticated: false, operator: false, directoryPrefixes: undefined }

describe('an abort of a prompt', () => {
  test.each([
    ['clear', 'The prompt was taken back before it began.', 0],
    ['hold', 'The prompt is held until somebody releases it.', 1],
  ] as const)('with the queue %s ends the prompts that wait behind it, and tells whose they were', async (abortQueue, told, left) => {
    const never = gate()
    const { client, service } = await openBench({
      steps: [
        async (push, signal) => {
          push({ type: 'text', delta: 'working' })
          await Promise.race([never.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        },
      ],
    })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const ended = new AbortController()
    const taken = createTakenBack(() => id)
    const first = client.prompt(id, 'go', { signal: ended.signal, abortQueue, onEvent: taken.see }).result()
    await service.until(({ type }) => type === 'message.part.delta')
    const second = client.prompt(id, { prompt: 'later\nthan that', delivery: 'queue', messageId: 'msg_second' }).result()
    await service.until(({ type, data }) => type === 'session.queue.updated' && data['messageID'] === 'msg_second')
    ended.abort()
    await expect(second).resolves.toMatchObject({ message: undefined, error: { message: told, interrupted: true } })
    await first
    expect(taken.texts()).toEqual(abortQueue === 'clear' ? [{ messageId: 'msg_second', text: 'later\nthan that' }] : [])
    expect(taken.texts()).toEqual([])
    expect([service.runtime.sessions.queue(id).count, service.requests.length]).toEqual([left, 1])
  })
})
