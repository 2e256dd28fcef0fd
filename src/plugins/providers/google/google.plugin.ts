/** Native plugin `dev.svc.google`: models behind the Gemini API. */
import type { GoogleLanguageModelOptions } from '@ai-sdk/google'
import type { NativePlugin, ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'
import { createAnswer } from '../exchange/answer.js'
import { type CallRules, makeCall } from '../exchange/call.js'
import { createModelPlugin, type ModelPluginOptions } from '../exchange/plugin.js'
import type { Protocol } from '../exchange/protocol.js'
import { effortOf } from '../exchange/request.js'
import { createContentLens } from './events.js'

const ENDPOINT = 'https://generativelanguage.googleapis.com/v1beta'
const NPM = ['@ai-sdk/google']

const KNOWN: readonly (keyof GoogleLanguageModelOptions)[] = [
  'audioTimestamp',
  'cachedContent',
  'imageConfig',
  'labels',
  'mediaResolution',
  'responseModalities',
  'retrievalConfig',
  'safetySettings',
  'serviceTier',
  'structuredOutputs',
  'thinkingConfig',
]

const RULES: CallRules = {
  vendor: 'google',
  credential: (key) => ({ name: 'x-goog-api-key', value: key }),
  isStrict: true,
  hasStrictSchemas: true,
  known: new Set(KNOWN),
  more,
}

const BUDGETS: Readonly<Record<string, number>> = { none: 0, minimal: 512, low: 1024, medium: 2048, high: 4096, xhigh: 8192 }
const LEVELS: Readonly<Record<string, string>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
}

/** The second generation of models counts its thinking in tokens, those after it in levels. */
function more({ compatibility }: ProviderSettings, { model, options }: GenerateRequest): ReturnType<CallRules['more']> {
  const { reasoningEffort: effort, thinkingConfig } = options
  if (!compatibility.reasoningEffort || typeof effort !== 'string' || thinkingConfig !== undefined) return { options: {} }
  const name = effortOf(effort)
  const isCounted = /gemini-2/i.test(model.id)
  const amount = isCounted ? { thinkingBudget: BUDGETS[name] } : { thinkingLevel: LEVELS[name] }
  return { options: Object.values(amount)[0] === undefined ? {} : { thinkingConfig: { includeThoughts: name !== 'none', ...amount } } }
}

const content: Protocol = {
  endpoint: () => ENDPOINT,
  load: async (_settings, baseURL) => (await import('./sdk.js')).createContentModels(baseURL),
  call: (settings, request, effects) => makeCall(RULES, settings, request, effects),
  answer: (deps) => createAnswer(createContentLens(), deps),
}

export function createGooglePlugin(options: ModelPluginOptions = {}): NativePlugin {
  const endpoints = Object.fromEntries(NPM.map((npm) => [npm, ENDPOINT]))
  return createModelPlugin({ word: 'google', name: 'Google Gemini', npm: NPM, endpoints, protocol: content }, options)
}
