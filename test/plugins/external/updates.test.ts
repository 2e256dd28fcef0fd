// Holds subsystems l.4.
import { describe, expect, test } from 'vitest'
import { createUpdates } from '../../../src/plugins/external/updates.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'
import { LIMITS } from '../../../src/protocol/limits.js'

function open(ours: readonly string[] = []) {
  const parts: StreamPart[] = []
  const plans: unknown[] = []
  const usages: unknown[] = []
  const updates = createUpdates({
    push: (part) => parts.push(part),
    agent: 'codex',
    onPlan: (todos) => plans.push(todos),
    onUsage: (usage) => usages.push(usage),
    isOurs: (path) => ours.includes(path),
  })
  return { parts, plans, usages, updates }
}

const says = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: 'text', text } })

describe('what an agent tells', () => {
  test('is text and thoughts, each a passage until something else comes', () => {
    const { parts, updates } = open()
    for (const update of [says('agent_thought_chunk', 'a'), says('agent_thought_chunk', 'b'), says('agent_message_chunk', 'c')])
      updates.take(update)
    expect(parts).toEqual([
      { type: 'reasoning-start', id: 'thought-1' },
      { type: 'reasoning', id: 'thought-1', delta: 'a' },
      { type: 'reasoning', id: 'thought-1', delta: 'b' },
      { type: 'reasoning-end', id: 'thought-1' },
      { type: 'text-start', id: 'text-2' },
      { type: 'text', delta: 'c' },
    ])
  })

  test('is a call by its id: begun, run with what it was given by then, and ended once', () => {
    const { parts, updates } = open()
    updates.take({ sessionUpdate: 'tool_call', toolCallId: '1', title: 'List', kind: 'execute', status: 'pending' })
    updates.take({ sessionUpdate: 'tool_call_update', toolCallId: '1', rawInput: { command: 'ls' } })
    updates.take({ sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'in_progress' })
    for (let times = 0; times < 2; times++)
      updates.take({ sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'completed', rawOutput: 'a.txt' })
    expect(parts).toEqual([
      { type: 'tool-input-start', callId: '1', tool: 'execute' },
      { type: 'tool-call', callId: '1', tool: 'execute', input: '{"command":"ls"}', executed: true },
      {
        type: 'tool-result',
        callId: '1',
        tool: 'execute',
        output: 'a.txt',
        isError: false,
        shown: { title: 'List', text: 'a.txt', metadata: {} },
      },
    ])
  })

  test.each([
    [['/a'], {}],
    [[], { unkept: 'the agent "codex" has changed files itself' }],
  ])('that it changed a file, of which %j were written here, is noted where undo does not know of it', (ours, metadata) => {
    const { parts, updates } = open(ours)
    const content = [{ type: 'diff', path: '/a', oldText: '', newText: 'x' }]
    updates.take({ sessionUpdate: 'tool_call', toolCallId: '1', title: 'Edit', kind: 'edit', status: 'completed', content })
    expect(parts.at(-1)).toMatchObject({ type: 'tool-result', shown: { text: 'changed /a', metadata } })
    expect((parts.at(-1) as { shown: { metadata: object } }).shown.metadata).toEqual(metadata)
  })

  test('is its plan, and what its session takes', () => {
    const { plans, usages, updates } = open()
    updates.take({ sessionUpdate: 'plan', entries: [{ content: 'Tidy', status: 'pending' }] })
    updates.take({ sessionUpdate: 'usage_update', used: 3, size: 10, cost: { amount: 0.5, currency: 'USD' } })
    expect(plans).toEqual([[{ content: 'Tidy', status: 'pending', priority: 'medium' }]])
    expect(usages).toMatchObject([{ used: 3, size: 10, cost: { amount: 0.5 } }])
  })

  test.each([
    null,
    'text',
    {},
    { sessionUpdate: 'of tomorrow' },
    { sessionUpdate: 'tool_call' },
    { sessionUpdate: 'plan', entries: 'none' },
  ])('%j is passed over', (update) => {
    const { parts, plans, updates } = open()
    expect(updates.take(update)).toBe(false)
    expect([parts, plans]).toEqual([[], []])
  })
})

describe('of what an agent tells', () => {
  const paths = Array.from({ length: LIMITS.external.paths + 1 }, (_, index) => `/files/${index}`)
  const edit = (count: number, status = 'in_progress') => ({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'e1',
    kind: 'edit',
    status,
    locations: paths.slice(0, count).map((path) => ({ path })),
  })
  const results = (parts: readonly StreamPart[]) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.shown?.metadata] : []))

  test('a call about more files than are known of one is taken for one that changed others', () => {
    const { parts, updates } = open(paths)
    updates.take(edit(paths.length))
    updates.take(edit(0, 'completed'))
    expect(results(parts)).toEqual([{ unkept: 'the agent "codex" has changed files itself' }])
  })

  test('the same files told again and again are the same files', () => {
    const { parts, updates } = open(paths)
    for (let time = 0; time < 5; time++) updates.take(edit(LIMITS.external.paths))
    updates.take(edit(LIMITS.external.paths, 'completed'))
    expect(results(parts)).toEqual([{}])
  })

  test('no more calls are known than a turn may have', () => {
    const { parts, updates } = open()
    for (let call = 0; call < LIMITS.run.callsPerTurn + 5; call++)
      updates.take({ sessionUpdate: 'tool_call', toolCallId: `c${call}`, kind: 'read', status: 'pending' })
    expect(parts.filter(({ type }) => type === 'tool-input-start')).toHaveLength(LIMITS.run.callsPerTurn)
  })
})
