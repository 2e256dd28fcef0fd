/**
 * `svc doctor --online`: every provider that can be used answers one short prompt, through the same path as any other, and the model servers of
 * this machine are looked for at their usual ports.
 */
import { createNodeEffects } from '../../../platform/node/node-effects.js'
import { LOCAL_PROVIDERS } from '../../../actors/provider/catalog/known-vendors.js'
import { createDiscovery } from '../../../actors/provider/catalog/discover.js'
import type { Client } from '../../../published/client/client-types.js'
import { failureText } from '../../failure.js'
import type { Finding } from '../../findings.js'
import { chosenModel } from './model-check.js'

/** For one provider, ms. */
const PATIENCE = 60_000
const SHOWN = 3

/** Findings of providers that are really asked; costs a few tokens each. */
export async function inspectOnline(client: Client, query: { readonly directory: string }): Promise<Finding[]> {
  const { providers, default: defaults } = await client.providers.configured(query)
  const findings: Finding[] = []
  const chosen = (await chosenModel(client, query)).model
  const slash = chosen?.indexOf('/') ?? -1
  const first = chosen === null ? undefined : { providerId: chosen.slice(0, slash), modelId: chosen.slice(slash + 1) }
  for (const { id, source } of providers) {
    const modelId = first?.providerId === id ? first.modelId : defaults[id]
    if (source === 'builtin' || modelId === undefined) continue
    const tried = await tryModel(client, query.directory, { providerId: id, modelId })
    // One that is not asked tomorrow keeps nobody from an answer.
    findings.push(tried.level === 'error' && first?.providerId !== id ? { ...tried, level: 'warning' } : tried)
  }
  const known = new Set(providers.map(({ id }) => id))
  return [...findings, ...(await localServers(known))]
}

async function tryModel(client: Client, directory: string, model: { providerId: string; modelId: string }): Promise<Finding> {
  const check = 'online'
  const name = `${model.providerId}/${model.modelId}`
  const { id } = await client.sessions.create({ directory, body: { title: 'svc doctor' } })
  try {
    const prompt = { parts: [{ type: 'text' as const, text: 'Answer with the word ok.' }], model, tools: { '*': false } }
    const running = client.prompt(id, prompt, { signal: AbortSignal.timeout(PATIENCE) })
    const { error, text } = await running.result()
    if (error !== undefined) return { level: 'error', check, detail: `${name}: ${error.message}` }
    return { level: 'ok', check, detail: `${name} answers: ${text.trim().slice(0, 60) || 'nothing'}` }
  } catch (error) {
    return { level: 'error', check, detail: `${name}: ${failureText(error)}` }
  } finally {
    await client.sessions.delete({ sessionId: id }).catch(() => undefined)
  }
}

/** Those that answer and nobody uses yet, with the line that does. */
async function localServers(known: ReadonlySet<string>): Promise<Finding[]> {
  const discovery = createDiscovery(createNodeEffects({ logLevel: 'silent' }))
  const looked = await Promise.all(
    [...LOCAL_PROVIDERS.values()]
      .filter(({ id }) => !known.has(id))
      .map(async ({ id, name, api: baseURL = '' }): Promise<Finding[]> => {
        const [first, ...more] = (await discovery.models({ providerId: id, baseURL, headers: {}, key: undefined })) ?? []
        if (first === undefined) return []
        const names = [first, ...more].slice(0, SHOWN).join(', ')
        return [
          { level: 'ok', check: 'model server', detail: `${name} at ${baseURL} has ${names}; use it: svc run --model ${id}/${first} "…"` },
        ]
      }),
  )
  return looked.flat()
}
