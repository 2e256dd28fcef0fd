import { describe, expect, test } from 'vitest'
import type { EventData, EventType } from '../../../src/protocol/event/event.js'
import type { KnownEvent } from '../../../src/cli/run/read-event.js'
import { createTranscript } from '../../../src/cli/run/transcript.js'

const SESSION = 'ses_1'
const PROMPT = 'msg_prompt'
const ANSWER = 'msg_answer'

function event<T extends EventType>(type: T, data: EventData<T>): KnownEvent {
  return { id: 'evt_1', sequence: 1, source: 'svc.core', schemaVersion: '1.0.0', timestamp: 1, type, data } as unknown as KnownEvent
}

const place = { sessionId: SESSION, messageId: ANSWER }
const usage = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
const prompted = event('message.updated', {
  sessionID: SESSION,
  info: {
    role: 'user',
    id: PROMPT,
    sessionId: SESSION,
    time: { created: 1 },
    agent: 'build',
    model: { providerId: 'svc', modelId: 'offline' },
  },
})
const answering = (error?: string, sessionId = SESSION) =>
  event('message.updated', {
    sessionID: sessionId,
    info: {
      role: 'assistant',
      id: ANSWER,
      sessionId,
      time: { created: 2 },
      parentId: PROMPT,
      mode: 'build',
      agent: 'build',
      path: { cwd: '/', root: '/' },
      cost: 0,
      tokens: usage,
      modelId: 'offline',
      providerId: 'svc',
      ...(error === undefined ? {} : { error: { message: error } }),
    },
  })
const delta = (text: string, partType = 'text') =>
  event('message.part.delta', { sessionID: SESSION, messageID: ANSWER, partID: 'prt_1', partType, field: 'text', delta: text })
const part = (fields: EventData<'message.part.updated'>['part']) =>
  event('message.part.updated', { sessionID: SESSION, part: fields, time: 3 })
const text = (value: string, time?: { start: number; end?: number }) =>
  part({ ...place, id: 'prt_1', type: 'text', text: value, ...(time ? { time } : {}) })
const status = (type: 'idle' | 'busy' | 'retry', extra = {}) => event('session.status', { sessionID: SESSION, status: { type, ...extra } })

function follow(...events: KnownEvent[]) {
  const transcript = createTranscript(SESSION, PROMPT)
  return events.flatMap((each) => transcript.accept(each))
}

describe('the transcript of a prompt', () => {
  test('notes a compaction, and shows nothing of what it says or fails with', () => {
    const compacting = (more: object) =>
      event('message.updated', {
        sessionID: SESSION,
        info: {
          role: 'assistant',
          id: 'msg_summary',
          sessionId: SESSION,
          time: { created: 2 },
          parentId: 'msg_mark',
          mode: 'compaction',
          agent: 'svc',
          path: { cwd: '/', root: '/' },
          cost: 0,
          tokens: usage,
          modelId: 'offline',
          providerId: 'svc',
          ...more,
        },
      })
    const said = { sessionID: SESSION, messageID: 'msg_summary', partID: 'prt_9', partType: 'text', field: 'text', delta: '## Goal' }
    const shown = follow(
      prompted,
      compacting({}),
      event('message.part.delta', said),
      compacting({ time: { created: 2, completed: 3 }, error: { message: 'out of order' } }),
      answering(),
      delta('Hello'),
      status('idle'),
    )
    expect(shown).toEqual([
      { type: 'note', text: 'The conversation is being compacted.' },
      { type: 'text', text: 'Hello' },
      { type: 'break' },
      { type: 'end', failed: false },
    ])
  })

  test('shows the text as it comes, once, and ends when the session is idle', () => {
    expect(
      follow(
        prompted,
        status('busy'),
        answering(),
        delta('Hel'),
        delta('lo'),
        text('Hello', { start: 1, end: 2 }),
        answering(),
        status('idle'),
      ),
    ).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'break' },
      { type: 'break' },
      { type: 'end', failed: false },
    ])
  })

  test('shows nothing of what ran before the prompt, and does not end with it', () => {
    expect(follow(answering(), delta('old'), status('idle'))).toEqual([])
  })

  test('completes text from a snapshot after a cut stream', () => {
    expect(follow(prompted, answering(), delta('Hel'), text('Hello wor'), delta('ld'))).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo wor' },
      { type: 'text', text: 'ld' },
    ])
  })

  test('begins a part again when the step is tried again, and not when the same step is shown again', () => {
    const step = (id: string) => part({ ...place, id, type: 'step-start' })
    expect(follow(prompted, answering(), step('prt_a'), delta('bad'), step('prt_a'), step('prt_b'), delta('good'))).toEqual([
      { type: 'text', text: 'bad' },
      { type: 'break' },
      { type: 'text', text: 'good' },
    ])
  })

  test('shows tools when they start and when they fail, in one line without control characters', () => {
    const tool = (state: Extract<EventData<'message.part.updated'>['part'], { type: 'tool' }>['state']) =>
      part({ ...place, id: 'prt_2', type: 'tool', tool: 'read', callId: 'call_1', state })
    const running = tool({ status: 'running', input: { filePath: 'src/\u001b[31ma.ts' }, time: { start: 1 } })
    expect(
      follow(
        prompted,
        answering(),
        tool({ status: 'pending', input: {}, raw: '' }),
        running,
        running,
        tool({ status: 'error', input: {}, error: 'no\nsuch file', time: { start: 1 } }),
      ),
    ).toEqual([
      { type: 'break' },
      { type: 'note', text: '→ read src/ [31ma.ts' },
      { type: 'break' },
      { type: 'note', text: '✗ read: no such file' },
    ])
  })

  test('fails with the error of the message, told once', () => {
    expect(
      follow(
        prompted,
        answering('model is gone'),
        event('session.error', {
          sessionID: SESSION,
          error: { code: 'provider.failed', message: 'model is gone', retryable: true, details: {} },
        }),
        status('idle'),
      ),
    ).toEqual([{ type: 'break' }, { type: 'error', text: 'model is gone' }, { type: 'break' }, { type: 'end', failed: true }])
  })

  test('ends in failure when the prompt was dropped before it was stored, or the session is deleted', () => {
    const dropped = event('session.error', {
      sessionID: SESSION,
      error: { code: 'request.invalid', message: 'no such model', retryable: false, details: {} },
    })
    expect(follow(dropped, status('idle')).at(-1)).toEqual({ type: 'end', failed: true })
  })

  test('says when a step waits to be tried again', () => {
    expect(follow(prompted, status('retry', { attempt: 2, message: 'overloaded' }))).toEqual([
      { type: 'break' },
      { type: 'note', text: 'retrying (2): overloaded' },
    ])
  })

  test('hands on permission requests of the whole family, and when they are settled', () => {
    const request = {
      id: 'per_1',
      sessionId: 'ses_child',
      messageId: 'msg_x',
      title: 'Run ls',
      permission: 'bash',
      patterns: ['ls'],
      always: ['ls *'],
    }
    expect(
      follow(prompted, event('permission.asked', request), event('permission.replied', { requestID: 'per_1', reply: 'once' })),
    ).toEqual([
      { type: 'permission', request },
      { type: 'settled', requestId: 'per_1' },
    ])
  })

  test('leaves out reasoning, other sessions and parts of the prompt', () => {
    const ofPrompt = part({ sessionId: SESSION, messageId: PROMPT, id: 'prt_9', type: 'text', text: 'question' })
    expect(follow(prompted, ofPrompt, answering(), delta('thinking', 'reasoning'), answering('child failed', 'ses_child'))).toEqual([])
  })
})
