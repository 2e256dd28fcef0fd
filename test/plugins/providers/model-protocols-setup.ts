import type { ProviderContribution } from '../../../src/ports/plugin.js'
import type { GenerateRequest, ProviderError, StreamPart } from '../../../src/ports/provider-adapter.js'
import { createAnthropicPlugin } from '../../../src/plugins/providers/anthropic/anthropic.plugin.js'
import { createGooglePlugin } from '../../../src/plugins/providers/google/google.plugin.js'
import { createOpenAICompatiblePlugin } from '../../../src/plugins/providers/openai-compatible/openai-compatible.plugin.js'
import { createOpenAIPlugin } from '../../../src/plugins/providers/openai/openai.plugin.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { type ModelServer, type Reply, startModelServer } from '../../fixtures/model-server.js'
import type { Vendor } from '../../fixtures/vendors/turn.js'
import { joined, REQUEST, settings } from './openai-compatible/setup.js'

const PLUGINS = [createOpenAICompatiblePlugin, createOpenAIPlugin, createAnthropicPlugin, createGooglePlugin]

/** What serves an adapter package. */
export function contributionOf(npm: string, fetch: typeof globalThis.fetch): ProviderContribution {
  const absent = () => Promise.reject(new Error('not part of this test'))
  const host = {
    ...noDoors,
    effects: createFakeEffects({ fetch }),
    outputs: { store: absent },
    questions: { ask: absent },
    todos: { replace: () => {} },
    planMode: { set: () => true },
    instructions: { nested: absent },
    protectedFiles: { reasons: async () => [] },
    shellEnvironment: async () => ({}),
    config: () => Promise.resolve({}),
  }
  const all = PLUGINS.flatMap((create) => create().start(host).providers ?? [])
  const found = all.find((contribution) => contribution.npm.includes(npm))
  if (found === undefined) throw new Error(`nothing serves ${npm}`)
  return found
}

export interface Played {
  readonly parts: readonly StreamPart[]
  readonly error: ProviderError | undefined
  readonly server: ModelServer
  /** What the stand-in received last. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface PlayOptions {
  readonly request?: Partial<GenerateRequest>
  readonly options?: Readonly<Record<string, unknown>>
  /** The secret is a token of OAuth. */
  readonly hasToken?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

/** Runs one step of each reply, all with the same request, against the stand-in of a vendor. */
export async function playVendor(
  vendor: Vendor,
  answer: Reply,
  { request = {}, hasToken = false, headers = {} }: PlayOptions = {},
): Promise<Played> {
  const server = await startModelServer(() => answer)
  const baseURL = vendor.baseURL(server.url.replace(/\/v1$/, ''))
  const compatibility = { streamUsage: true, reasoningEffort: true }
  const adapter = contributionOf(vendor.npm, globalThis.fetch).create(
    settings({ npm: vendor.npm, baseURL, apiKey: () => 'sk-secret', hasToken: () => hasToken, headers, compatibility }),
  )
  const parts: StreamPart[] = []
  const whole = { ...REQUEST, model: { id: vendor.model, providerId: 'local' }, ...request }
  const error = await adapter
    .generate(whole, (part) => parts.push(part), new AbortController().signal)
    .then(
      () => undefined,
      (reason: unknown) => reason as ProviderError,
    )
  await server.close()
  return { parts: joined(parts), error, server, body: server.requests[0]?.body ?? {} }
}
