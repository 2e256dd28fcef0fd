/** A model that calls a tool when the prompt says so. */
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { contentOf } from './host.js'

export function startToolModel(): Promise<ModelServer> {
  return startModelServer((request) => {
    const { messages = [] } = request.body ?? {}
    const prompt = contentOf(messages.findLast(({ role }) => role === 'user')?.['content'])
    if (messages.at(-1)?.role === 'tool' || !prompt.startsWith('calls ')) return reply(text('Done.'), finish('stop'))
    const { tool, input } = JSON.parse(prompt.slice('calls '.length)) as { tool: string; input: object }
    return reply(text('Let me see.'), toolCall({ id: `call_${request.index}`, name: tool, input }), finish('tool_calls'))
  })
}
