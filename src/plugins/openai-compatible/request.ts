/** The HTTP request of one model step (subsystems c.9). */
import type { ProviderSettings } from '../../actors/plugin/native.js'
import { type GenerateRequest, ProviderError } from '../../actors/provider/adapter.js'
import { toChatMessages } from './messages.js'
import { type Vendor, vendorOf } from './vendors.js'

/** Body keys that no configured option may set. */
const STRUCTURAL = new Set(['model', 'messages', 'tools', 'stream', 'stream_options', 'n', '__proto__'])

const EFFORTS: Readonly<Record<string, string>> = { max: 'xhigh', ultra: 'xhigh' }

export interface ChatRequest {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

/**
 * Builds the request of a step; throws `ProviderError` when the provider has no usable address. `sha256` answers
 * hex; it makes call ids for vendors that accept only short ones.
 */
export function buildRequest(settings: ProviderSettings, request: GenerateRequest, sha256: (text: string) => string): ChatRequest {
  const vendor = vendorOf(settings.npm)
  const url = `${(settings.baseURL ?? vendor.endpoint ?? '').replace(/\/+$/, '')}/chat/completions`
  if (!/^https?:/i.test(url) || !URL.canParse(url)) {
    throw new ProviderError(`Provider "${settings.providerId}" needs options.baseURL, an http(s) address.`, { retryable: false })
  }
  return {
    url,
    headers: requestHeaders(settings, request),
    body: wellFormed(JSON.stringify(requestBody(settings, request, { vendor, sha256 }))),
  }
}

function requestHeaders(settings: ProviderSettings, request: GenerateRequest): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'svc' }
  for (const [name, value] of Object.entries({ ...settings.headers, ...request.headers })) headers[name.toLowerCase()] = value
  const key = settings.apiKey()
  delete headers.authorization
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  return { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' }
}

function requestBody(
  settings: ProviderSettings,
  request: GenerateRequest,
  { vendor, sha256 }: { vendor: Vendor; sha256: (text: string) => string },
): Record<string, unknown> {
  const messages = toChatMessages(request.messages, {
    callId: vendor.nineCharacterCallIds === true ? (id) => nineCharacters(id, sha256) : (id) => id.replace(/[^\w-]/g, '_'),
    reasoningField: request.reasoningField,
    needsAnswerAfterTools: vendor.needsAnswerAfterTools === true,
  })
  const tools = request.tools.map(({ id, description, parameters }) => ({
    type: 'function',
    function: { name: id, description, parameters },
  }))
  return {
    ...vendor.body,
    ...bodyOptions(request.options, { vendor, effort: settings.compatibility.reasoningEffort }),
    model: request.model.id,
    messages,
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.topP === undefined ? {} : { top_p: request.topP }),
    ...(request.maxOutputTokens === undefined ? {} : { [outputLimitKey(vendor)]: request.maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools }),
    stream: true,
    ...usageRequest(settings, vendor),
  }
}

function outputLimitKey(vendor: Vendor): string {
  return vendor.completionTokens === true ? 'max_completion_tokens' : 'max_tokens'
}

function usageRequest(settings: ProviderSettings, vendor: Vendor): Record<string, unknown> {
  if (!settings.compatibility.streamUsage || vendor.refusesStreamOptions === true) return {}
  return vendor.gateway === true ? { usage: { include: true } } : { stream_options: { include_usage: true } }
}

function bodyOptions(options: GenerateRequest['options'], rules: { vendor: Vendor; effort: boolean }): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(options)) {
    if (STRUCTURAL.has(key) || value === undefined) continue
    if (key === 'textVerbosity') body.verbosity = value
    else if (key !== 'reasoningEffort') body[key] = value
    else if (rules.effort && typeof value === 'string') {
      const effort = EFFORTS[value] ?? value
      if (rules.vendor.gateway === true) body.reasoning = { effort }
      else body.reasoning_effort = effort
    }
  }
  return body
}

function nineCharacters(id: string, sha256: (text: string) => string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : sha256(id).slice(0, 9)
}

/** Replaces halves of surrogate pairs, which JSON text shows as escapes, by U+FFFD (threat-model §6.5). */
function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json
  return json.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (escape, half: string | undefined) => (half === undefined ? escape : '\\ufffd'))
}
