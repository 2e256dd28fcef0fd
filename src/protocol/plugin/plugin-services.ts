/** Records that plugins and the host exchange in calls (plugin-protocol §4.7, §7, §8.2, §8.3). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { uint } from '../shared.js'

const anyRecord = z.record(z.string(), z.unknown())
const texts = z.record(z.string(), z.string())

export const PluginAgent = z.looseObject({
  name: z.string().min(1),
  mode: z.enum(['primary', 'subagent', 'all']),
  description: z.string().nullish(),
  native: z.boolean().optional(),
  hidden: z.boolean().optional(),
  topP: z.number().nullish(),
  temperature: z.number().nullish(),
  color: z.string().nullish(),
  permission: anyRecord.optional(),
  model: z.looseObject({ id: z.string(), providerId: z.string(), variant: z.string().optional() }).nullish(),
  variant: z.string().nullish(),
  prompt: z.string().nullish(),
  options: anyRecord.optional(),
  steps: uint.nullish(),
})
export type PluginAgent = z.infer<typeof PluginAgent>
export const AgentCatalog = z.looseObject({ agents: z.array(PluginAgent).max(LIMITS.plugins.listed), defaultAgent: z.string().nullish() })
export type AgentCatalog = z.infer<typeof AgentCatalog>

export const PluginCommand = z.looseObject({
  name: z.string().default(''),
  description: z.string().nullish(),
  template: z.string().nullish(),
  agent: z.string().nullish(),
  model: z.string().nullish(),
  subtask: z.boolean().nullish(),
})
export type PluginCommand = z.infer<typeof PluginCommand>

export const PluginSkill = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  description: z.string().nullish(),
  path: z.string().nullish(),
})
export type PluginSkill = z.infer<typeof PluginSkill>

export const SystemContextSection = z.looseObject({ id: z.string().min(1), title: z.string().nullish(), content: z.string() })
export type SystemContextSection = z.infer<typeof SystemContextSection>

export const RenderedPrompt = z.looseObject({ content: z.string(), system: z.boolean().default(false) })
export type RenderedPrompt = z.infer<typeof RenderedPrompt>

/** Before the name of the agent whose prompt a service renders, in its id. */
export const AGENT_PROMPT = 'agent.'

export const PluginConfigDocument = z.looseObject({ values: anyRecord, provenance: texts.default({}) })
export type PluginConfigDocument = z.infer<typeof PluginConfigDocument>

/** A message as plugins and process providers see it (plugin-protocol §7.3). */
export const ProviderMessage = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  attachments: z.array(z.looseObject({ mime: z.string(), url: z.string(), filename: z.string().optional() })).optional(),
  toolCalls: z.array(z.looseObject({ id: z.string(), name: z.string(), input: z.unknown() })).optional(),
  reasoning: z.array(z.looseObject({ summary: z.array(z.unknown()), encryptedContent: z.string() })).optional(),
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  toolError: z.boolean().optional(),
})
export type ProviderMessage = z.infer<typeof ProviderMessage>

const tokens = uint.max(LIMITS.provider.stepTokens)
const usage = {
  finish: z.string().nullish(),
  totalTokens: tokens.nullish(),
  inputTokens: tokens.default(0),
  outputTokens: tokens.default(0),
  reasoningTokens: tokens.default(0),
  cacheReadTokens: tokens.default(0),
  cacheWriteTokens: tokens.default(0),
}
const id = z.string()

const MADE = /^(?:image|video|audio)\/[\w.+-]{1,100}$/

/** One item of a generation stream (plugin-protocol §7.1); snake_case usage keys are renamed before parsing. */
export const ProviderStreamEvent = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('start') }),
  z.looseObject({ type: z.literal('start-step') }),
  z.looseObject({ type: z.literal('text-start'), id }),
  z.looseObject({ type: z.literal('text-end'), id }),
  z.looseObject({ type: z.literal('text-delta'), id, delta: z.string() }),
  z.looseObject({ type: z.literal('reasoning-start'), id }),
  z.looseObject({ type: z.literal('reasoning-end'), id }),
  z.looseObject({ type: z.literal('reasoning-delta'), id, delta: z.string() }),
  z.looseObject({ type: z.literal('reasoning-metadata'), id, metadata: z.unknown() }),
  z.looseObject({ type: z.literal('tool-input-start'), id, name: z.string() }),
  z.looseObject({ type: z.literal('tool-input-delta'), id, delta: z.string() }),
  z.looseObject({ type: z.literal('tool-input-end'), id }),
  z.looseObject({ type: z.literal('tool-call'), id, name: z.string(), input: z.unknown() }),
  z.looseObject({ type: z.literal('tool-result'), id, output: z.string() }),
  z.looseObject({ type: z.literal('tool-error'), id, message: z.string() }),
  /** A picture, a film or a sound that the model made. */
  z.looseObject({ type: z.literal('file'), mime: z.string().regex(MADE), filename: z.string().nullish(), dataBase64: z.base64() }),
  z.looseObject({ type: z.literal('finish-step'), ...usage }),
  z.looseObject({ type: z.literal('finish'), ...usage }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
])
export type ProviderStreamEvent = z.infer<typeof ProviderStreamEvent>

const { headers: HEADERS, headerText: HEADER_TEXT } = LIMITS.plugins

/** Headers a plugin gives; they are counted before one of them is looked at. */
export const headersOf = <T extends z.ZodType>(schema: T) => z.custom<unknown>(isShort, TOO_LONG).pipe(schema)

const TOO_LONG = `must be at most ${HEADERS} headers of ${HEADER_TEXT} characters together`

function isShort(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  const entries = Object.entries(value)
  if (entries.length > HEADERS) return false
  return entries.reduce((sum, [name, text]) => sum + name.length + (typeof text === 'string' ? text.length : 0), 0) <= HEADER_TEXT
}

export const RouteResponse = z.looseObject({
  status: z.int().min(100).max(599),
  headers: headersOf(texts).default({}),
  body: z.unknown().default(null),
})
export type RouteResponse = z.infer<typeof RouteResponse>

const bytes = z.array(z.int().min(0).max(255))
/** A socket message, either way (plugin-protocol §8.3). */
export const SocketMessage = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), data: z.string() }),
  z.looseObject({ kind: z.enum(['binary', 'ping', 'pong']), data: bytes }),
  z.looseObject({ kind: z.literal('close') }),
])
export type SocketMessage = z.infer<typeof SocketMessage>
