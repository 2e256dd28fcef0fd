/** Habits of the vendors that speak the chat completions protocol (subsystems c.3, c.9). */

export interface Vendor {
  /** API root when the configuration names none. */
  readonly endpoint?: string
  /** Refuses requests that ask for usage in the stream; it is sent unasked there. */
  readonly refusesStreamOptions?: boolean
  /** Takes reasoning effort as `reasoning: { effort }` and usage as `usage: { include }`. */
  readonly gateway?: boolean
  /** Calls the output limit `max_completion_tokens`. */
  readonly completionTokens?: boolean
  /** Call ids must be exactly nine letters and digits. */
  readonly nineCharacterCallIds?: boolean
  /** Refuses a user message directly after tool results. */
  readonly needsAnswerAfterTools?: boolean
  /** Fields every request carries. */
  readonly body?: Readonly<Record<string, unknown>>
}

/** Adapter package names served, with what is special about each. */
export const VENDORS: Readonly<Record<string, Vendor>> = {
  '@ai-sdk/openai-compatible': {},
  '@ai-sdk/openai/chat': { endpoint: 'https://api.openai.com/v1', completionTokens: true, body: { store: false } },
  '@ai-sdk/azure': { completionTokens: true },
  '@ai-sdk/xai': { endpoint: 'https://api.x.ai/v1' },
  '@ai-sdk/groq': { endpoint: 'https://api.groq.com/openai/v1' },
  '@ai-sdk/mistral': {
    endpoint: 'https://api.mistral.ai/v1',
    refusesStreamOptions: true,
    nineCharacterCallIds: true,
    needsAnswerAfterTools: true,
  },
  '@ai-sdk/cerebras': { endpoint: 'https://api.cerebras.ai/v1' },
  '@ai-sdk/deepinfra': { endpoint: 'https://api.deepinfra.com/v1/openai' },
  '@ai-sdk/togetherai': { endpoint: 'https://api.together.xyz/v1' },
  '@ai-sdk/perplexity': { endpoint: 'https://api.perplexity.ai', refusesStreamOptions: true },
  '@ai-sdk/vercel': { endpoint: 'https://api.v0.dev/v1' },
  '@ai-sdk/gateway': { endpoint: 'https://ai-gateway.vercel.sh/v1' },
  '@ai-sdk/alibaba': { endpoint: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
  '@openrouter/ai-sdk-provider': { endpoint: 'https://openrouter.ai/api/v1', gateway: true },
  '@llmgateway/ai-sdk-provider': { endpoint: 'https://api.llmgateway.io/v1', gateway: true },
  'venice-ai-sdk-provider': { endpoint: 'https://api.venice.ai/api/v1' },
}

/** The habits of an adapter package; a name that is not known has none. */
export function vendorOf(npm: string): Vendor {
  return VENDORS[npm] ?? {}
}

/** API roots by adapter package name, for the packages that know theirs. */
export function vendorEndpoints(): Record<string, string> {
  return Object.fromEntries(Object.entries(VENDORS).flatMap(([npm, { endpoint }]) => (endpoint === undefined ? [] : [[npm, endpoint]])))
}
