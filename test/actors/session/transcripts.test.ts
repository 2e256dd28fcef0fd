// Holds sessions-events §3.8.
import { expect, it } from 'vitest'
import { createTranscripts } from '../../../src/actors/session/state/transcripts.js'
import type { Message } from '../../../src/protocol/message/message.js'

const message = (id: string, parts: readonly object[] = []) =>
  ({ info: { id, sessionId: 'ses_1', role: 'assistant' }, parts }) as unknown as Message

it('a message that was read from its rows before it was added is there once, as it was added', () => {
  const rows = [message('msg_1'), message('msg_2')]
  const transcripts = createTranscripts({ messages: { all: () => [...rows] } } as unknown as Parameters<typeof createTranscripts>[0])
  transcripts.append(message('msg_2', [{ type: 'text' }]))
  expect(transcripts.of('ses_1')).toEqual(rows)
  transcripts.append(message('msg_2', [{ type: 'text' }]))
  transcripts.append(message('msg_3'))
  expect(transcripts.of('ses_1')).toEqual([message('msg_1'), message('msg_2', [{ type: 'text' }]), message('msg_3')])
})
