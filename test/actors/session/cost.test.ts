// Holds sessions-events §6.5.
import { describe, expect, it } from 'vitest'
import { conversationOf } from '../../../src/actors/session/history/conversation.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, says, startTestService } from '../../fakes/service.js'

/** A service whose commits and syncs are counted. */
async function startCounted(tools: NonNullable<Parameters<typeof startTestService>[0]>['tools'] = []) {
  const effects = createFakeEffects()
  const count = { commits: 0, syncs: 0 }
  const store = openStore({ directory: ':memory:', now: () => effects.clock.now(), failpoint: () => void count.commits++ })
  const sync = store.sync.bind(store)
  const counted = {
    ...store,
    sync() {
      count.syncs++
      return sync()
    },
  }
  const service = await startTestService({ effects, store: counted, tools })
  const id = await service.session()
  return { service, id, count }
}

const signals: AbortSignal[] = []
const look = {
  id: 'look',
  async invoke(_: unknown, { signal }: { signal: AbortSignal }) {
    signals.push(signal)
    return { title: 'Look', output: 'seen' }
  },
}
const call = (callId: string) => calls({ callId, tool: 'look' })

describe('what a turn costs', () => {
  it('at most two syncs, however many tools only look: of its prompt and, before the first of them, of its claim', async () => {
    const { service, id, count } = await startCounted([look])
    service.steps.push(call('a'), call('b'), call('c'), says('done'))
    await service.prompt(id, 'go')
    await service.idle(id)
    const before = count.syncs
    service.steps.push(call('d'), call('e'), call('f'), says('done'))
    await service.prompt(id, 'again')
    await service.idle(id)
    expect(count.syncs - before).toBeLessThanOrEqual(2)
  })

  it('no abort: what a tool was given to be stopped by is not used when it has ended', async () => {
    const { service, id } = await startCounted([look])
    service.steps.push(call('a'), says('done'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(signals.at(-1)?.aborted).toBe(false)
  })
})

describe('a conversation', () => {
  const said = (id: string, role: 'user' | 'assistant', looked: string[]): Message => {
    const info = { id, role, sessionId: 'ses_1', mode: 'primary', time: { created: 1, completed: 2 } } as Message['info']
    return {
      get info() {
        looked.push(id)
        return info
      },
      parts: [{ id: `prt_${id}`, sessionId: 'ses_1', messageId: id, type: 'text', text: id }],
    }
  }

  it('that has grown is not looked through again', () => {
    const looked: string[] = []
    const transcript = [said('u1', 'user', looked), said('a1', 'assistant', looked)]
    conversationOf(transcript)
    looked.length = 0
    transcript.push(said('u2', 'user', looked))
    const { messages } = conversationOf(transcript)
    expect(new Set(looked)).toEqual(new Set(['u2']))
    expect(messages.map(({ info }) => info.id)).toEqual(['u1', 'a1', 'u2'])
  })

  it('is looked through again once it was summarised', () => {
    const transcript = [said('u1', 'user', []), said('a1', 'assistant', [])]
    conversationOf(transcript)
    const mark = {
      ...said('u2', 'user', []),
      parts: [{ id: 'prt_m', sessionId: 'ses_1', messageId: 'u2', type: 'compaction' }],
    } as unknown as Message
    const whole = said('s1', 'assistant', [])
    const summary = { info: { ...whole.info, mode: 'compaction' }, parts: whole.parts } as Message
    transcript.push(mark, summary)
    const { summary: found, messages } = conversationOf(transcript)
    expect(found?.messageId).toBe('s1')
    expect(messages).toEqual([])
  })
})

describe('a part', () => {
  it('is made to JSON once, for its row and for its event', async () => {
    const written = new Map<string, number>()
    const tool = {
      id: 'look',
      async invoke() {
        const metadata = {
          toJSON() {
            written.set('metadata', (written.get('metadata') ?? 0) + 1)
            return { seen: true }
          },
        }
        return { title: 'Look', output: 'seen', metadata: { metadata } }
      },
    }
    const { service, id } = await startCounted([tool])
    service.steps.push(call('a'), says('done'))
    await service.prompt(id, 'go')
    await service.idle(id)
    const part = service.messages(id)[1]?.parts.find(({ type }) => type === 'tool')
    const told = service.events.findLast(({ type, data }) => type === 'message.part.updated' && data['part'].id === part?.id)
    expect(told?.data['part']).toEqual(part)
    expect(written.get('metadata')).toBe(1)
  })
})
