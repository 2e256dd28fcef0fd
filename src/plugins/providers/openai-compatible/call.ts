/** One model step as a call of the SDK: prompt, tools, sampling, headers, and the body fields it has no name for (subsystems c.9). */
import type { JSONObject, LanguageModelV3FunctionTool } from '@ai-sdk/provider'
import type { ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest, ToolDefinition } from '../../../ports/provider-adapter.js'
import { isRecord } from '../../../protocol/text/json.js'
import { createHeld } from '../exchange/held.js'
import type { Call, CallEffects } from '../exchange/protocol.js'
import { bearer, effortOf, headersOf } from '../exchange/request.js'
import { isStrictModel, offeredSchema } from '../exchange/tool-schemas.js'
import { type Vendor, vendorOf } from './vendors.js'
import type { Writing } from './written.js'

/** Body keys that no configured option may set. */
const STRUCTURAL = new Set(['model', 'messages', 'tools', 'stream', 'stream_options', 'n', '__proto__'])

/** Name under which the SDK knows every provider, and finds the options of a call. */
export const SDK_NAME = 'svc'

/** A step whose messages are written without the SDK. */
export interface ChatCall extends Call {
  readonly messages: GenerateRequest['messages']
  readonly writing: Writing
}

/**
 * Everything of a step but its signal. `sha256` answers hex; it makes call ids for vendors that accept only short
 * ones. `mark` is new for each request.
 */
export function toCall(settings: ProviderSettings, request: GenerateRequest, { sha256, mark }: CallEffects): ChatCall {
  const held = createHeld(mark)
  const vendor = vendorOf(settings.npm)
  const writing = {
    held,
    mark,
    key: `${settings.npm} ${request.reasoningField ?? ''}`,
    callId: vendor.nineCharacterCallIds === true ? (id: string) => nineCharacters(id, sha256) : (id: string) => id.replace(/[^\w-]/g, '_'),
    reasoningField: request.reasoningField,
    needsAnswerAfterTools: vendor.needsAnswerAfterTools === true,
  }
  return {
    held,
    headers: headersOf(settings, request, bearer),
    fields: {},
    messages: request.messages,
    writing,
    options: {
      tools: request.tools.map(isStrictModel(request.model.id) ? strictTool : plainTool),
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      ...(request.topP === undefined ? {} : { topP: request.topP }),
      ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
      includeRawChunks: true,
      providerOptions: { [SDK_NAME]: { fields: extraFields(settings, request, vendor) } },
    },
  }
}

/** Tools as the SDK has them, made once: the same definition is offered in every step. */
function toolsBy(isStrict: boolean): (definition: ToolDefinition) => LanguageModelV3FunctionTool {
  const made = new WeakMap<ToolDefinition, LanguageModelV3FunctionTool>()
  return (definition) => {
    const { id: name, description, parameters } = definition
    const known = made.get(definition) ?? { type: 'function', name, description, inputSchema: offeredSchema(parameters, isStrict) }
    made.set(definition, known)
    return known
  }
}

const strictTool = toolsBy(true)
const plainTool = toolsBy(false)

/** Whether usage is asked for in the way the SDK asks. */
export function asksForUsage({ compatibility, npm }: ProviderSettings): boolean {
  const { refusesStreamOptions, gateway } = vendorOf(npm)
  return compatibility.streamUsage && refusesStreamOptions !== true && gateway !== true
}

/** The body as it is sent: the fields of `toCall` below what the SDK has set, and the name the vendor gives the output limit. */
export function toBody(npm: string): (args: Record<string, unknown>) => Record<string, unknown> {
  const limit = vendorOf(npm).completionTokens === true ? 'max_completion_tokens' : 'max_tokens'
  return ({ fields, max_tokens, ...args }) => {
    const set = Object.entries({ ...args, [limit]: max_tokens }).filter(([, value]) => value !== undefined)
    return { ...(isRecord(fields) ? fields : {}), ...Object.fromEntries(set) }
  }
}

function extraFields(settings: ProviderSettings, { options }: GenerateRequest, vendor: Vendor): JSONObject {
  const fields: Record<string, unknown> = { ...vendor.body }
  for (const [key, value] of Object.entries(options)) {
    if (STRUCTURAL.has(key) || value === undefined) continue
    if (key === 'textVerbosity') fields.verbosity = value
    else if (key !== 'reasoningEffort') fields[key] = value
    else if (settings.compatibility.reasoningEffort && typeof value === 'string') {
      const effort = effortOf(value)
      if (vendor.gateway === true) fields.reasoning = { effort }
      else fields.reasoning_effort = effort
    }
  }
  if (vendor.gateway === true && settings.compatibility.streamUsage) fields.usage = { include: true }
  // Options were parsed from JSON configuration.
  return fields as JSONObject
}

function nineCharacters(id: string, sha256: (text: string) => string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : sha256(id).slice(0, 9)
}
