// Holds plugin-protocol §7, §7.3.
import { expect, it } from 'vitest'
import { fromProviderMessages, toProviderMessages } from '../../../src/actors/plugin/calls/provider-messages.js'
import type { ModelMessage } from '../../../src/ports/provider-adapter.js'
import { ProviderMessage } from '../../../src/protocol/plugin/plugin-services.js'

const IMAGE = { mime: 'image/png', url: 'data:image/png;base64,AA==', filename: 'a.png' }
const CONVERSATION: readonly ModelMessage[] = [
  { role: 'system', text: 'You are a test.' },
  {
    role: 'user',
    content: [
      { type: 'file', file: IMAGE },
      { type: 'text', text: 'look' },
      { type: 'text', text: 'again' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', metadata: { signature: { of: 'vendor' } } },
      { type: 'text', text: 'one' },
      { type: 'tool-call', callId: 'c1', tool: 'read', input: { filePath: 'a', b: {} } },
      { type: 'text', text: 'two' },
      { type: 'tool-call', callId: 'c2', tool: 'read', input: {} },
    ],
  },
  {
    role: 'tool',
    results: [
      { callId: 'c1', tool: 'read', output: 'text', isError: false, attachments: [IMAGE] },
      { callId: 'c2', tool: 'read', output: 'no such file', isError: true },
    ],
  },
  { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
]

const reordered = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).toReversed()) : inner,
  )

it('writes one message for each, and one for each tool result', () => {
  const messages = toProviderMessages(CONVERSATION)
  expect(messages).toEqual([
    { role: 'system', content: 'You are a test.' },
    { role: 'user', content: 'look\n\nagain', attachments: [IMAGE] },
    {
      role: 'assistant',
      content: 'one\n\ntwo',
      toolCalls: [
        { id: 'c1', name: 'read', input: { filePath: 'a', b: {} } },
        { id: 'c2', name: 'read', input: {} },
      ],
      reasoning: [{ summary: [{ type: 'summary_text', text: 'hm' }], encryptedContent: '' }],
    },
    { role: 'tool', content: 'text', toolCallId: 'c1', toolName: 'read', attachments: [IMAGE] },
    { role: 'tool', content: 'no such file', toolCallId: 'c2', toolName: 'read', toolError: true },
    { role: 'assistant', content: 'done' },
  ])
  for (const message of messages) expect(ProviderMessage.parse(message)).toEqual(message)
})

it('gives back the very messages when nothing changed, whatever the order of their keys', () => {
  const answered = ProviderMessage.array().parse(reordered(toProviderMessages(CONVERSATION)))
  const back = fromProviderMessages(answered, CONVERSATION)
  expect(back).toEqual(CONVERSATION)
  expect(back[2]).toBe(CONVERSATION[2])
})

it('keeps what a changed message has no room for when only its text changed', () => {
  const answered = toProviderMessages(CONVERSATION).map((message) =>
    message.content === 'one\n\ntwo' ? { ...message, content: 'three' } : message,
  )
  expect(fromProviderMessages(answered, CONVERSATION)[2]).toEqual({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', metadata: { signature: { of: 'vendor' } } },
      { type: 'text', text: 'three' },
      { type: 'tool-call', callId: 'c1', tool: 'read', input: { filePath: 'a', b: {} } },
      { type: 'tool-call', callId: 'c2', tool: 'read', input: {} },
    ],
  })
})

it('reads messages that plugins wrote themselves', () => {
  const reasoning = [{ summary: [{ text: 'so ' }, 'it is', 7], encryptedContent: 'secret' }]
  const written = [
    { role: 'user', content: '', attachments: [IMAGE] },
    { role: 'assistant', content: '', reasoning, toolCalls: [{ id: 'c9', name: 'list', input: [] }] },
    { role: 'tool', content: 'nothing', toolCallId: 'c9', toolName: 'list' },
  ] satisfies ProviderMessage[]
  expect(fromProviderMessages(written)).toEqual([
    { role: 'user', content: [{ type: 'file', file: IMAGE }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'so it is', metadata: { encryptedContent: 'secret' } },
        { type: 'tool-call', callId: 'c9', tool: 'list', input: {} },
      ],
    },
    { role: 'tool', results: [{ callId: 'c9', tool: 'list', output: 'nothing', isError: false }] },
  ])
})

it('tells equal messages with different originals apart by their order', () => {
  const with_ = (metadata: string): ModelMessage => ({ role: 'assistant', content: [{ type: 'reasoning', text: 'x', metadata }] })
  const before = [with_('first'), { role: 'user', content: [] } as const, with_('second')]
  expect(fromProviderMessages(toProviderMessages(before), before)).toEqual(before)
})
