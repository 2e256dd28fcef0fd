import { describe, expect, it } from 'vitest'
import type { GenerateRequest, ModelMessage } from '../../../src/ports/provider-adapter.js'
import { content } from '../../fixtures/vendors/content.js'
import { messages } from '../../fixtures/vendors/messages.js'
import { responses } from '../../fixtures/vendors/responses.js'
import type { Vendor } from '../../fixtures/vendors/turn.js'
import { playVendor } from './model-protocols-setup.js'

const PNG = { mime: 'image/png', url: 'data:image/png;base64,AAAA', filename: 'a.png' }
const PDF = { mime: 'application/pdf', url: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' }

async function bodyOf(vendor: Vendor, request: Partial<GenerateRequest>) {
  const { body, error } = await playVendor(vendor, vendor.reply({ text: ['hi'] }), { request })
  expect(error).toBeUndefined()
  return body
}

const lastOf = ({ messages: listed }: Readonly<Record<string, unknown>>): unknown => (Array.isArray(listed) ? listed.at(-1) : undefined)

const call: ModelMessage = { role: 'assistant', content: [{ type: 'tool-call', callId: 'c.1', tool: 'read', input: { x: 1 } }] }
const result = (more: object): ModelMessage => ({
  role: 'tool',
  results: [{ callId: 'c.1', tool: 'read', output: 'seen', isError: false, ...more }],
})
const said = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] })

describe('files of a tool result', () => {
  const conversation = { messages: [said('look'), call, result({ attachments: [PNG, PDF] })] }

  it('go into the result where a vendor takes them there', async () => {
    expect((await bodyOf(responses, conversation))['input']).toMatchObject([
      {},
      { type: 'function_call', call_id: 'c_1' },
      {
        type: 'function_call_output',
        call_id: 'c_1',
        output: [
          { type: 'input_text', text: 'seen' },
          { type: 'input_image', image_url: PNG.url },
          { type: 'input_file', filename: 'a.pdf', file_data: PDF.url },
        ],
      },
    ])
    expect(lastOf(await bodyOf(messages, conversation))).toMatchObject({
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c_1',
          content: [
            { type: 'text', text: 'seen' },
            { type: 'image', source: { media_type: 'image/png', data: 'AAAA' } },
            { type: 'document', source: { media_type: 'application/pdf', data: 'BBBB' } },
          ],
        },
      ],
    })
  })

  it('go beside it where a vendor does not', async () => {
    const text = JSON.stringify((await bodyOf(content, conversation))['contents'])
    expect(text).toContain('{"inlineData":{"mimeType":"image/png","data":"AAAA"}}')
    expect(text).toContain('{"inlineData":{"mimeType":"application/pdf","data":"BBBB"}}')
  })

  it('a failed result is told as one', async () => {
    const failed = { messages: [said('look'), call, result({ isError: true, output: 'no such file' })] }
    expect(lastOf(await bodyOf(messages, failed))).toMatchObject({
      content: [{ type: 'tool_result', is_error: true, content: 'no such file' }],
    })
  })
})

describe('strict protocols', () => {
  const conversation = {
    messages: [
      { role: 'system' as const, text: 'first' },
      said('go'),
      { role: 'system' as const, text: 'a notice' },
      { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Stop soon.' }] },
    ],
  }

  it('are told in the name of the user what they have no place for', async () => {
    const { system, messages: listed } = await bodyOf(messages, conversation)
    expect(system).toMatchObject([{ text: 'first' }])
    expect(listed).toMatchObject([{ role: 'user', content: [{ text: 'go' }, { text: 'a notice' }, { text: 'Stop soon.' }] }])
    const { systemInstruction, contents } = await bodyOf(content, conversation)
    expect(systemInstruction).toEqual({ parts: [{ text: 'first' }] })
    expect(contents).toMatchObject([{ role: 'user' }, { role: 'user', parts: [{ text: 'a notice' }] }, { role: 'user' }])
  })

  it('others are not', async () => {
    expect((await bodyOf(responses, conversation))['input']).toMatchObject([
      { role: 'developer' },
      { role: 'user' },
      { role: 'developer', content: 'a notice' },
      { role: 'assistant' },
    ])
  })
})

describe('what a model of OpenAI has thought', () => {
  const model = { id: 'next-thinker', providerId: 'local' }

  it('is asked for encrypted where the model is said to think, whatever its name, and given back', async () => {
    const thought = { type: 'reasoning' as const, text: 'hm', metadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'P1' } } }
    const body = await bodyOf(responses, {
      model,
      reasons: true,
      messages: [said('go'), { role: 'assistant', content: [thought, { type: 'text', text: 'so' }] }, said('on')],
    })
    expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(body['input']).toContainEqual(expect.objectContaining({ type: 'reasoning', encrypted_content: 'P1' }))
    expect((await bodyOf(responses, { model: { ...model, id: 'gpt-5' }, reasons: true }))['include']).toEqual([
      'reasoning.encrypted_content',
    ])
  })

  it('is not asked for where nothing says that it thinks', async () => {
    expect((await bodyOf(responses, { model }))['include']).toBeUndefined()
  })
})

describe('an effort', () => {
  const effort = (name: string, more: object = {}) => ({ options: { reasoningEffort: name }, maxOutputTokens: 10_000, ...more })

  it('is told to OpenAI by name, for models it does not know as well', async () => {
    const model = { id: 'next-thinker', providerId: 'local' }
    expect(await bodyOf(responses, effort('max', { model }))).toMatchObject({
      reasoning: { effort: 'xhigh' },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'ses_1',
      max_output_tokens: 10_000,
    })
  })

  it.each([
    ['minimal', 1024],
    ['low', 1024],
    ['medium', 2048],
    ['high', 4096],
    ['ultra', 8192],
  ])('is a budget for Anthropic, within the limit of the output: %s', async (name, budget) => {
    expect(await bodyOf(messages, effort(name))).toMatchObject({
      max_tokens: 10_000,
      thinking: { type: 'enabled', budget_tokens: budget },
    })
  })

  it('leaves Anthropic 1024 tokens to answer in, and is left out where that cannot be', async () => {
    expect(await bodyOf(messages, effort('xhigh', { maxOutputTokens: 3000 }))).toMatchObject({
      max_tokens: 3000,
      thinking: { budget_tokens: 1976 },
    })
    const small = await bodyOf(messages, effort('low', { maxOutputTokens: 2000 }))
    expect([small['max_tokens'], small['thinking']]).toEqual([2000, undefined])
    expect((await bodyOf(messages, { options: {} }))['max_tokens']).toBe(4096)
  })

  it('is a budget for one generation of Google’s models and a level for the next', async () => {
    expect(await bodyOf(content, effort('high'))).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 4096 } },
    })
    const model = { id: 'gemini-3-pro-preview', providerId: 'local' }
    expect(await bodyOf(content, effort('xhigh', { model }))).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } },
    })
  })
})

describe('options', () => {
  it('that the SDK refuses are told, and not tried again', async () => {
    const { error } = await playVendor(messages, messages.reply({ text: ['hi'] }), { request: { options: { thinking: 'much' } } })
    expect(error).toMatchObject({ retryable: false })
    expect(error?.message).toContain('cannot be asked so')
  })

  it('of tools that a vendor runs take the place of ours of the same name', async () => {
    const tools = ['web_search', 'read'].map((id) => ({ id, description: id, parameters: { type: 'object' } }))
    const options = { providerTools: [{ id: 'anthropic.web_search_20250305', args: { maxUses: 3 } }, { id: 'nonsense' }, 7] }
    expect((await bodyOf(messages, { tools, options }))['tools']).toMatchObject([
      { name: 'read' },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    ])
  })

  it('of headers reach the SDK: betas join its own', async () => {
    const request = { headers: { 'anthropic-beta': 'mine-2026-01-01', 'X-Api-Key': 'stolen', 'x-team': 'a' } }
    const { server } = await playVendor(messages, messages.reply({ text: ['hi'] }), {
      request: { ...request, messages: [{ role: 'user', content: [{ type: 'file', file: PDF }] }] },
    })
    const headers = server.requests[0]?.headers ?? {}
    expect(headers).toMatchObject({ 'x-api-key': 'sk-secret', 'x-team': 'a', 'anthropic-version': '2023-06-01' })
    expect(String(headers['anthropic-beta']).split(',')).toEqual(expect.arrayContaining(['mine-2026-01-01', 'pdfs-2024-09-25']))
  })
})
