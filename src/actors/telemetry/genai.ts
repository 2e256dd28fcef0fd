/**
 * Names of spans and their attributes: the GenAI and MCP conventions of `open-telemetry/semantic-conventions-genai` v0.1.0, all of which
 * are in development. They stand here and nowhere else.
 */
import type { AssistantInfo, ToolPart } from '../../protocol/message/message.js'
import { EXTERNAL } from '../../protocol/session/external-provider.js'
import { isRecord } from '../../protocol/text/json.js'

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

export const NOTHING: Attributes = {}

/** Ids of providers that the convention calls otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

export function agentSpan(sessionId: string, runId: string, agent: string | undefined) {
  return {
    name: agent === undefined ? 'invoke_agent' : `invoke_agent ${agent}`,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      ...(agent !== undefined && { 'gen_ai.agent.name': agent }),
      'gen_ai.conversation.id': sessionId,
      'svc.run.id': runId,
    },
  }
}

export function stepSpan({ sessionId, providerId, modelId }: AssistantInfo) {
  if (providerId === EXTERNAL) {
    return {
      name: `invoke_agent ${modelId}`,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': modelId, 'gen_ai.conversation.id': sessionId },
    }
  }
  return {
    name: `chat ${modelId}`,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': PROVIDERS[providerId] ?? providerId,
      'gen_ai.request.model': modelId,
      'gen_ai.request.stream': true,
      'gen_ai.conversation.id': sessionId,
    },
  }
}

export function usageOf({ tokens, finish, cost }: AssistantInfo): Attributes {
  const usage = {
    'gen_ai.usage.input_tokens': tokens.input,
    'gen_ai.usage.output_tokens': tokens.output,
    'gen_ai.usage.reasoning.output_tokens': tokens.reasoning,
    'gen_ai.usage.cache_read.input_tokens': tokens.cache.read,
    'gen_ai.usage.cache_write.input_tokens': tokens.cache.write,
    'svc.cost': cost,
  }
  return finish === undefined ? usage : { ...usage, 'gen_ai.response.finish_reasons': [finish] }
}

export function toolSpan({ tool, callId }: ToolPart, sessionId: string) {
  return {
    name: `execute_tool ${tool}`,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
      'gen_ai.conversation.id': sessionId,
    },
  }
}

/** A tool of an MCP server has one span, with what the MCP convention says besides. */
export function mcpOf(metadata: unknown): Attributes {
  const mcp = isRecord(metadata) ? metadata['mcp'] : undefined
  if (!isRecord(mcp) || typeof mcp['server'] !== 'string') return NOTHING
  return { 'mcp.method.name': 'tools/call', 'svc.mcp.server': mcp['server'] }
}

export const ERROR = 'error.type'
export const TOOL_ERROR = 'tool_error'

/** Only where the operator turned contents on. */
export const CONTENT = {
  asked: (text: string): Attributes => ({ 'gen_ai.input.messages': messages('user', text) }),
  said: (text: string): Attributes => ({ 'gen_ai.output.messages': messages('assistant', text) }),
  arguments: (input: unknown): Attributes => ({ 'gen_ai.tool.call.arguments': JSON.stringify(input) ?? '' }),
  result: (output: string): Attributes => ({ 'gen_ai.tool.call.result': output }),
}

function messages(role: string, text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: text }] }])
}
