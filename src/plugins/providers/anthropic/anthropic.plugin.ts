/** Native plugin `dev.svc.anthropic`: models behind the Messages API. */
import type { AnthropicLanguageModelOptions } from '@ai-sdk/anthropic'
import type { LanguageModelV3Prompt } from '@ai-sdk/provider'
import type { NativePlugin, ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'
import { createAnswer } from '../exchange/answer.js'
import { type CallRules, makeCall } from '../exchange/call.js'
import { createModelPlugin, type ModelPluginOptions } from '../exchange/plugin.js'
import type { CallEffects, Protocol, SdkCall } from '../exchange/protocol.js'
import { effortOf } from '../exchange/request.js'
import { createMessagesLens } from './events.js'

const ENDPOINT = 'https://api.anthropic.com/v1'
const NPM = ['@ai-sdk/anthropic']

const KNOWN: readonly (keyof AnthropicLanguageModelOptions)[] = [
  'anthropicBeta',
  'cacheControl',
  'container',
  'contextManagement',
  'disableParallelToolUse',
  'effort',
  'mcpServers',
  'metadata',
  'sendReasoning',
  'speed',
  'taskBudget',
  'thinking',
  'toolStreaming',
]

const RULES: CallRules = {
  vendor: 'anthropic',
  credential: (key) => ({ name: 'x-api-key', value: key }),
  isStrict: true,
  known: new Set(KNOWN),
  more,
  mark,
}

/** Tokens of thinking by effort (subsystems c.9); the vendor refuses fewer than the least. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 512, low: 1024, medium: 2048, high: 4096, xhigh: 8192 }
const LEAST_BUDGET = 1024
const DEFAULT_OUTPUT = 4096

/** The SDK adds the budget to the limit of the output, so that is less by as much: what is sent is the limit of the model. */
function more(
  { compatibility }: ProviderSettings,
  { options, maxOutputTokens = DEFAULT_OUTPUT }: GenerateRequest,
): ReturnType<CallRules['more']> {
  const { reasoningEffort: effort, thinking } = options
  const budget =
    compatibility.reasoningEffort && typeof effort === 'string' && thinking === undefined ? BUDGETS[effortOf(effort)] : undefined
  const budgetTokens = budget === undefined ? 0 : Math.min(Math.max(LEAST_BUDGET, budget), maxOutputTokens - 1024)
  if (budgetTokens < LEAST_BUDGET) return { options: {}, maxOutputTokens }
  return { options: { thinking: { type: 'enabled', budgetTokens } }, maxOutputTokens: maxOutputTokens - budgetTokens }
}

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/** The last system message and the last two turns of the user: what is sent again with the next step is found up to the mark before the last. */
function mark(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const system = prompt.findLastIndex(({ role }) => role === 'system')
  const turns = prompt.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : [])).slice(-2)
  const marked = new Set([system, ...turns])
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: MARK } : message))
}

/** The vendor takes tokens of OAuth from those alone who name this beta. */
const TOKENS = 'oauth-2025-04-20'

/** Configured betas join those of the SDK, which reads them from its own headers. */
function call(settings: ProviderSettings, request: GenerateRequest, effects: CallEffects): SdkCall {
  const made = makeCall(RULES, settings, request, effects)
  const { 'anthropic-beta': configured, ...headers } = made.headers
  const isToken = headers['authorization'] !== undefined && !(configured ?? '').includes(TOKENS)
  const betas = [configured, isToken ? TOKENS : undefined].filter((beta) => beta !== undefined && beta !== '').join(',')
  return betas === '' ? made : { ...made, headers, options: { ...made.options, headers: { 'anthropic-beta': betas } } }
}

const messages: Protocol = {
  endpoint: () => ENDPOINT,
  load: async (_settings, baseURL) => (await import('./sdk.js')).createMessagesModels(baseURL),
  call,
  answer: (deps) => createAnswer(createMessagesLens(), deps),
}

export function createAnthropicPlugin(options: ModelPluginOptions = {}): NativePlugin {
  const endpoints = Object.fromEntries(NPM.map((npm) => [npm, ENDPOINT]))
  return createModelPlugin({ word: 'anthropic', name: 'Anthropic Messages', npm: NPM, endpoints, protocol: messages }, options)
}
