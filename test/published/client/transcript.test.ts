// Holds sessions-events §4.12, §11.13.
import { expect, test } from 'vitest'
import { createTranscript } from '../../../src/published/client/transcript.js'
import type { SvcEvent } from '../../../src/published/client/operation-types.js'

const event = (type: string, data: object) => ({ type, data: { sessionID: 'ses_1', ...data } }) as unknown as SvcEvent
const prompt = event('message.updated', { info: { role: 'user', id: 'msg_1' } })
const answer = (completed?: number) =>
  event('message.updated', { info: { role: 'assistant', id: 'msg_2', time: { created: 1, completed } } })
const part = (text: string) => event('message.part.updated', { part: { type: 'text', id: 'prt_1', messageId: 'msg_2', text } })
const delta = (text: string) =>
  event('message.part.delta', { messageID: 'msg_2', partID: 'prt_1', partType: 'text', field: 'text', delta: text })

test('what was read whole is not said again by a stream that tells of its beginning later', () => {
  const transcript = createTranscript('ses_1', 'msg_1', true)
  const told = [prompt, answer(), delta('one'), answer(), part('one two'), answer(2), answer(), delta(' two'), answer(2)].flatMap((each) =>
    transcript.accept(each),
  )
  expect(told.map((each) => ('delta' in each ? each.delta : each.type))).toEqual(['one', ' two'])
})

test('a retry tells when', () => {
  const transcript = createTranscript('ses_1', 'msg_1', true)
  transcript.accept(prompt)
  const told = transcript.accept(event('session.status', { status: { type: 'retry', attempt: 1, message: 'busy', next: 7 } }))
  expect(told).toEqual([{ type: 'retry', attempt: 1, message: 'busy', next: 7 }])
})
