/** Native plugin `dev.svc.openai`: models behind the Responses API. */
import type { OpenAILanguageModelResponsesOptions } from '@ai-sdk/openai'
import type { NativePlugin, ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'
import { createAnswer } from '../exchange/answer.js'
import { type CallRules, makeCall } from '../exchange/call.js'
import { createModelPlugin, type ModelPluginOptions } from '../exchange/plugin.js'
import type { Protocol } from '../exchange/protocol.js'
import { bearer, effortOf } from '../exchange/request.js'
import { createResponsesLens } from './events.js'

const ENDPOINT = 'https://api.openai.com/v1'
const NPM = ['@ai-sdk/openai']

const KNOWN: readonly (keyof OpenAILanguageModelResponsesOptions)[] = [
  'conversation',
  'forceReasoning',
  'include',
  'instructions',
  'logprobs',
  'maxToolCalls',
  'metadata',
  'parallelToolCalls',
  'previousResponseId',
  'promptCacheKey',
  'promptCacheRetention',
  'reasoningContext',
  'reasoningMode',
  'reasoningSummary',
  'safetyIdentifier',
  'serviceTier',
  'store',
  'strictJsonSchema',
  'systemMessageMode',
  'textVerbosity',
  'truncation',
  'user',
]

const RULES: CallRules = {
  vendor: 'openai',
  credential: bearer,
  isStrict: false,
  known: new Set(KNOWN),
  more: (settings, request) => ({ options: optionsOf(settings, request) }),
}

/** Nothing is stored at the vendor: a conversation outlives its copies and moves to another key, so reasoning comes back encrypted. */
function optionsOf({ compatibility }: ProviderSettings, { sessionId, options, reasons }: GenerateRequest): Record<string, unknown> {
  const { reasoningEffort: effort } = options
  const asked =
    compatibility.reasoningEffort && typeof effort === 'string' ? { reasoningEffort: effortOf(effort), forceReasoning: true } : {}
  // The SDK asks by itself for models whose names it knows alone.
  const kept = reasons === true ? { include: ['reasoning.encrypted_content'] } : {}
  return { store: false, promptCacheKey: sessionId, ...kept, ...asked }
}

const responses: Protocol = {
  endpoint: () => ENDPOINT,
  load: async (_settings, baseURL) => (await import('./sdk.js')).createResponsesModels(baseURL),
  call: (settings, request, effects) => makeCall(RULES, settings, request, effects),
  answer: (deps) => createAnswer(createResponsesLens(), deps),
}

export function createOpenAIPlugin(options: ModelPluginOptions = {}): NativePlugin {
  const endpoints = Object.fromEntries(NPM.map((npm) => [npm, ENDPOINT]))
  return createModelPlugin({ word: 'openai', name: 'OpenAI Responses', npm: NPM, endpoints, protocol: responses }, options)
}
