/** One model step as a call of the SDK, for protocols that have a package of their own (subsystems c.9). */
import type { JSONObject, LanguageModelV3CallOptions, LanguageModelV3Prompt, LanguageModelV3ProviderTool } from '@ai-sdk/provider'
import type { ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'
import { isRecord } from '../../../protocol/text/json.js'
import { createHeld } from './held.js'
import { toPrompt } from './prompt.js'
import type { CallEffects, SdkCall } from './protocol.js'
import { type Credential, headersOf } from './request.js'
import { isStrictModel, offeredSchema } from './tool-schemas.js'

export interface CallRules {
  /** Name of the vendor in the options and the metadata of the SDK. */
  readonly vendor: string
  readonly credential: Credential
  readonly isStrict: boolean
  /** Takes reduced schemas of tools only, whatever the model. */
  readonly hasStrictSchemas?: boolean
  /** Options that the SDK has a name for; all others become fields of the body. */
  readonly known: ReadonlySet<string>
  /** Options of the vendor beside those configured; `maxOutputTokens` replaces that of the request. */
  readonly more: (
    settings: ProviderSettings,
    request: GenerateRequest,
  ) => { readonly options: Readonly<Record<string, unknown>>; readonly maxOutputTokens?: number }
  /** Marks what the vendor shall cache. */
  readonly mark?: (prompt: LanguageModelV3Prompt) => LanguageModelV3Prompt
}

/** Body fields that no option may set, of whichever protocol. */
const STRUCTURAL = new Set([
  'model',
  'messages',
  'input',
  'contents',
  'system',
  'systemInstruction',
  'generationConfig',
  'tools',
  'tool_choice',
  'toolConfig',
  'max_tokens',
  'stream',
])
/** Options with a meaning of our own. */
const OURS = new Set(['reasoningEffort', 'providerTools'])

export function makeCall(rules: CallRules, settings: ProviderSettings, request: GenerateRequest, { mark }: CallEffects): SdkCall {
  const held = createHeld(mark)
  const given = Object.entries(request.options).filter(([key, value]) => value !== undefined && key !== '__proto__')
  const named = given.filter(([key]) => rules.known.has(key) && !OURS.has(key))
  const fields = given.filter(([key]) => !rules.known.has(key) && !OURS.has(key) && !STRUCTURAL.has(key))
  const more = rules.more(settings, request)
  const maxOutputTokens = more.maxOutputTokens ?? request.maxOutputTokens
  const prompt = toPrompt(request.messages, { held, isStrict: rules.isStrict })
  return {
    held,
    headers: headersOf(settings, request, rules.credential),
    // Options were parsed from JSON configuration.
    fields: Object.fromEntries(fields) as JSONObject,
    options: {
      prompt: rules.mark?.(prompt) ?? prompt,
      ...toolsOf(request, rules.hasStrictSchemas === true),
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      ...(request.topP === undefined ? {} : { topP: request.topP }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      providerOptions: { [rules.vendor]: { ...more.options, ...Object.fromEntries(named) } as JSONObject },
    },
  }
}

/** Tools the vendor executes come from the option `providerTools`; one of ours with the same name is not offered beside it. */
function toolsOf({ tools, options, model }: GenerateRequest, isStrict: boolean): Pick<LanguageModelV3CallOptions, 'tools'> {
  const executed = providerTools(options['providerTools'])
  const taken = new Set(executed.map(({ name }) => name))
  const ours = tools.flatMap(({ id, description, parameters }) =>
    taken.has(id)
      ? []
      : [{ type: 'function' as const, name: id, description, inputSchema: offeredSchema(parameters, isStrict || isStrictModel(model.id)) }],
  )
  const all = [...ours, ...executed]
  return all.length === 0 ? {} : { tools: all }
}

/** `[{ "id": "anthropic.web_search_20250305", "args": {} }]`; the name is that of the SDK unless one is given. */
function providerTools(value: unknown): LanguageModelV3ProviderTool[] {
  if (!Array.isArray(value)) return []
  return value.filter(isRecord).flatMap(({ id, name, args }) => {
    if (typeof id !== 'string' || !/^\w+\.\w+$/.test(id)) return []
    const word = typeof name === 'string' ? name : (id.split('.')[1] ?? '').replace(/_\d{8}$/, '')
    return [{ type: 'provider' as const, id: id as `${string}.${string}`, name: word, args: isRecord(args) ? { ...args } : {} }]
  })
}
