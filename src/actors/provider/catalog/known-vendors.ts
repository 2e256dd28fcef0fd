/** The vendors and model servers that svc knows without asking anybody. */
import document from './snapshot.json' with { type: 'json' }
import { type Offered, type OfferedProvider, readOffered } from './offered.js'

/** Model servers people run on their own machine, where they listen unless told otherwise. */
const LOCAL_SERVERS = [
  ['ollama', 'Ollama', 11_434],
  ['lmstudio', 'LM Studio', 1234],
  ['llamacpp', 'llama.cpp', 8080],
  ['vllm', 'vLLM', 8000],
  ['jan', 'Jan', 1337],
] as const

/** The catalog svc carries (`scripts/models-snapshot.mjs`); read once, when it is first needed. */
export function knownVendors(): Offered {
  return (vendors ??= readOffered(document, new Map()))
}
let vendors: Offered | undefined

/** Model servers on this machine, by their usual ports; nobody has asked them yet. */
export const LOCAL_PROVIDERS: Offered = new Map(
  LOCAL_SERVERS.map(([id, name, port]): [string, OfferedProvider] => [
    id,
    { id, name, env: [], npm: undefined, api: `http://127.0.0.1:${port}/v1`, models: new Map(), isLocal: true },
  ]),
)

/** The variable of the installation that moves a provider of the catalog to another address (subsystems c.1). */
export function addressVariable(providerId: string): string {
  return `SVC_AGENT_${providerId.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_BASE_URL`
}
