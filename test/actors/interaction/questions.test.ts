import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { calls, type PlayedTool, says, startTestService } from '../../fakes/service.js'

const question = { question: 'Which one?', options: [{ label: 'a', description: 'A' }] }
const asking: PlayedTool = {
  id: 'question',
  async invoke(_input, context, host) {
    const answers = await host.questions.ask(context, [question])
    return { title: 'Asked', output: JSON.stringify(answers) }
  },
}

async function ask() {
  const service = await startTestService({ tools: [asking] })
  const id = await service.session()
  service.steps.push(calls({ callId: 'a', tool: 'question' }), says('thanks'))
  await service.prompt(id, 'go')
  const { data } = await service.until(({ type }) => type === 'question.asked')
  const ends = () =>
    service.events
      .filter(({ type }) => type === 'question.replied' || type === 'question.rejected')
      .map(({ type, data: end }) => [type, end])
  const tool = () => service.messages(id)[1]?.parts.find(({ type }) => type === 'tool')
  return { service, id, request: data, requestId: String(data['id']), ends, tool }
}

describe('a question', () => {
  it('is listed until it is answered, and the answer is what the tool gets', async () => {
    const { service, id, request, requestId, ends, tool } = await ask()
    const { interactions } = service.runtime
    expect(request).toMatchObject({ sessionId: id, questions: [question], tool: { callID: 'a' } })
    expect(interactions.questions(TRUSTED_CALLER, id)).toEqual([request])
    expect(interactions.questions({ ...TRUSTED_CALLER, tenantId: 'other' }, id)).toEqual([])
    expect(interactions.replyPermission(requestId, { reply: 'once' })).toBe(true)
    expect(interactions.replyQuestion(requestId, { answers: [['a', 'b']] })).toBe(true)
    expect(interactions.replyQuestion(requestId, { answers: [['c']] })).toBe(true)
    await service.idle(id)
    expect(interactions.questions(TRUSTED_CALLER, id)).toEqual([])
    expect(ends()).toEqual([['question.replied', { requestID: requestId, sessionID: id, reply: { answers: [['a', 'b']] }, info: request }]])
    expect(tool()).toMatchObject({ state: { status: 'completed', output: '[["a","b"]]' } })
  })

  it('that is declined fails its call and lets the run go on', async () => {
    const { service, id, request, requestId, ends, tool } = await ask()
    expect(service.runtime.interactions.rejectQuestion(requestId)).toBe(true)
    await service.idle(id)
    expect(ends()).toEqual([['question.rejected', { requestID: requestId, sessionID: id, info: request }]])
    expect(tool()).toMatchObject({ state: { status: 'error', error: 'The user declined to answer.' } })
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop' })
  })

  it('is withdrawn by an abort', async () => {
    const { service, id, requestId, ends, tool } = await ask()
    await service.runtime.sessions.abort(id)
    await service.idle(id)
    expect(ends()).toMatchObject([['question.rejected', { requestID: requestId, reason: 'cancelled' }]])
    expect(tool()).toMatchObject({ state: { status: 'error' }, metadata: { interrupted: true } })
    expect(service.store.interactions.pending()).toEqual([])
  })
})
