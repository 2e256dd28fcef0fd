/** Between what svc says and hears, and what a gateway does that speaks as OpenAI. */

export function messageFor({ role, content, toolCalls = [], toolCallId }) {
  if (role === 'tool') return { role, content, tool_call_id: toolCallId }
  if (toolCalls.length === 0) return { role, content }
  const calls = toolCalls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }))
  return { role, content, tool_calls: calls }
}

export function toolFor({ id, description, parameters }) {
  return { type: 'function', function: { name: id, description, parameters } }
}

/** What the model says, as it comes. Throws when the answer ends before it is complete. */
export async function* eventsOf(body) {
  const calls = []
  let finish
  let usage = {}
  let isOpen = false
  for await (const chunk of chunksOf(body)) {
    if (chunk.error !== undefined) throw new Error(`the gateway gave up: ${chunk.error.message ?? 'it does not say why'}`)
    usage = chunk.usage ?? usage
    const { delta = {}, finish_reason: reason } = chunk.choices?.[0] ?? {}
    finish = reason ?? finish
    if (delta.content) {
      if (!isOpen) yield { type: 'text-start', id: 'text' }
      isOpen = true
      yield { type: 'text-delta', id: 'text', delta: delta.content }
    }
    for (const part of delta.tool_calls ?? []) {
      const call = (calls[part.index] ??= { id: '', name: '', input: '' })
      call.id ||= part.id ?? ''
      call.name += part.function?.name ?? ''
      call.input += part.function?.arguments ?? ''
    }
  }
  if (finish === undefined) throw new Error('the answer of the gateway broke off')
  if (isOpen) yield { type: 'text-end', id: 'text' }
  for (const { id, name, input } of calls) yield { type: 'tool-call', id, name, input: JSON.parse(input || '{}') }
  const tokens = { inputTokens: usage.prompt_tokens ?? 0, outputTokens: usage.completion_tokens ?? 0 }
  yield { type: 'finish', finish, ...tokens }
}

/** The objects in a stream of server-sent events. */
async function* chunksOf(body) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : ''
      if (data !== '' && data !== '[DONE]') yield JSON.parse(data)
    }
  }
}
