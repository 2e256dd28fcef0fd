import type { GenerateRequest, ProviderAdapter } from '../../../src/ports/provider-adapter.js'
import type { ProviderContribution, ProviderSettings } from '../../../src/ports/plugin.js'
import type { CatalogSource } from '../../../src/actors/provider/catalog/source.js'
import { createProviders } from '../../../src/actors/provider/providers.js'
import { EMPTY, readDocument } from '../../../src/actors/provider/credentials/document.js'
import type { ConfigDocument } from '../../../src/protocol/resource/config.js'
import { createFakeEffects } from '../../fakes/effects.js'

export const DIRECTORY = '/srv'
const INSTALLATION = '/home/ada/.config/svc'

/** Providers over a configuration document, with adapters that only note what they are made and asked for. */
export function setUp(
  document: ConfigDocument,
  options: {
    env?: Record<string, string>
    fetch?: typeof globalThis.fetch
    source?: CatalogSource
    /** The credential file, as JSON. */
    credentials?: () => unknown
    /** The configuration of the installation, where it is another one. */
    installed?: ConfigDocument
    /** Registered workspaces, by directory. */
    workspaces?: Readonly<Record<string, string>>
  } = {},
) {
  const effects = createFakeEffects({ env: options.env ?? {}, ...(options.fetch === undefined ? {} : { fetch: options.fetch }) })
  const made: ProviderSettings[] = []
  const requests: GenerateRequest[] = []
  const create = (settings: ProviderSettings): ProviderAdapter => {
    made.push(settings)
    return {
      generate(request) {
        requests.push(request)
        return Promise.resolve()
      },
    }
  }
  const contributions: ProviderContribution[] = [
    {
      npm: ['@ai-sdk/openai-compatible', '@ai-sdk/groq', '@ai-sdk/openai'],
      endpoints: { '@ai-sdk/groq': 'https://groq.example/v1' },
      create,
    },
    {
      npm: ['svc'],
      builtin: {
        id: 'svc',
        name: 'svc',
        models: [{ id: 'offline', name: 'Offline', limit: { context: 1000, output: 100 }, reasoning: true }],
      },
      create,
    },
  ]
  let current = document
  const providers = createProviders({
    effects,
    configs: { load: (directory) => Promise.resolve(directory === INSTALLATION ? (options.installed ?? current) : current) },
    contributions: () => contributions,
    installation: INSTALLATION,
    workspaceOf: async (directory) => options.workspaces?.[directory],
    credentials: { read: () => Promise.resolve(readDocument(options.credentials?.()) ?? EMPTY) },
    ...(options.source && { source: options.source }),
  })
  return {
    effects,
    made,
    requests,
    providers,
    reload(next: ConfigDocument) {
      current = next
    },
  }
}

export const LOCAL = { options: { baseURL: 'http://127.0.0.1:1/v1/' }, models: { small: { name: 'Small' } } }

export const REQUEST: GenerateRequest = {
  sessionId: 'ses_1',
  directory: DIRECTORY,
  model: { providerId: 'local', id: 'small' },
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  tools: [],
  options: {},
}
