// Holds plugin-protocol §4.4, §4.7.
import { describe, expect, test } from 'vitest'
import { createServedSessions } from '../../../src/actors/plugin/brokers/served-sessions.js'
import { externalTool, toolResult } from '../../../src/actors/plugin/process/external-tools.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { OWNER, playLink } from './played-link.js'

const DECLARED = { id: 'work', description: 'Works.', parameters: { type: 'object' } }

/** A call that is under way, and what was said of it. */
function underWay() {
  const played = playLink()
  const told: unknown[] = []
  const context = {
    sessionId: 'ses_1',
    messageId: 'msg_1',
    callId: 'call_1',
    agent: 'build',
    directory: '/w',
    signal: new AbortController().signal,
    progress: (metadata: unknown) => void told.push(metadata),
    decisions: () => [],
  }
  const answer = externalTool(OWNER.pluginId, DECLARED, { link: played.link, served: createServedSessions(played.clock) }).invoke(
    { a: 1 },
    context,
  )
  const tell = (metadata: unknown, more: object = {}) =>
    played.plugin({ method: 'host.tool.progress', params: { id: 1, metadata }, owner: OWNER, ...more })
  return { ...played, told, tell, answer }
}

describe('a tool of a process', () => {
  test('is told its message and its call', async () => {
    const { sent, plugin, answer } = underWay()
    expect(sent).toEqual([
      {
        id: 1,
        method: 'tool.invoke',
        params: { tool: 'work', directory: '/w', sessionId: 'ses_1', messageId: 'msg_1', callId: 'call_1', input: { a: 1 } },
      },
    ])
    plugin({ id: 1, result: { output: 'done' } })
    expect(await answer).toEqual({ title: 'work', output: 'done' })
  })

  test('says how far it is while its call waits, and nobody answers that', async () => {
    const { sent, told, tell, plugin, answer, link } = underWay()
    tell({ done: 0.5 })
    tell({ done: 0.6 }, { id: null })
    expect(told).toEqual([{ done: 0.5 }, { done: 0.6 }])
    plugin({ id: 1, result: { output: '' } })
    await answer
    tell({ done: 0.7 })
    expect([told, sent, link.counters.dropped]).toEqual([[{ done: 0.5 }, { done: 0.6 }], [expect.anything()], 0])
  })

  test('is not heard in the name of somebody else, of another call, or at too great length', () => {
    const { told, tell, problems, link } = underWay()
    tell({ a: 1 }, { owner: { ...OWNER, instanceId: 'other' } })
    tell({ a: 1 }, { owner: undefined })
    tell({ a: 1 }, { params: { id: 99, metadata: {} } })
    tell('half')
    tell({ text: 'x'.repeat(LIMITS.plugins.progressBytes) })
    expect([told, problems.length > 0, link.counters.dropped]).toEqual([[], true, 4])
  })

  test('is heard as often as anybody can see, and again in the next second', () => {
    const { told, tell, clock } = underWay()
    for (let count = 0; count < 100; count++) tell({ count })
    expect(told).toHaveLength(LIMITS.plugins.progressPerSecond)
    clock.advance(1000)
    tell({ count: 100 })
    expect(told.at(-1)).toEqual({ count: 100 })
  })

  test('whose plugin was retired is not heard any more', () => {
    const { told, tell, link } = underWay()
    link.retire()
    tell({ a: 1 })
    expect(told).toEqual([])
  })
})

describe('files beside the result of a tool', () => {
  const file = { mime: 'image/png', filename: 'a.png', dataBase64: 'aGk=' }

  test('become files of the call', () => {
    const url = 'data:text/plain,hi'
    expect(toolResult('work', { output: 'x', attachments: [file, { mime: 'text/plain', url }] })).toEqual({
      title: 'work',
      output: 'x',
      attachments: [
        { mime: 'image/png', filename: 'a.png', url: 'data:image/png;base64,aGk=' },
        { mime: 'text/plain', url },
      ],
    })
    expect(toolResult('work', { attachments: {} })).toEqual({ title: 'work', output: '' })
  })

  test.each([
    ['no list', file],
    ['an address', [{ mime: 'text/plain', url: 'https://example.org/a' }]],
    ['no bytes', [{ mime: 'text/plain' }]],
    ['bytes that are none', [{ ...file, dataBase64: '%' }]],
    ['too many', Array.from({ length: LIMITS.plugins.attachments + 1 }, () => file)],
  ])('are refused as %s', (_, attachments) => {
    expect(() => toolResult('work', { output: 'x', attachments })).toThrow('answered attachments that are none')
  })
})
