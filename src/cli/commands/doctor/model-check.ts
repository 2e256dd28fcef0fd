/** Which model the first prompt of tomorrow goes to, and why that one. */
import type { Client } from '../../../published/client/client-types.js'
import { isRecord } from '../../../protocol/text/json.js'
import { failureText } from '../../failure.js'
import type { Finding } from '../../findings.js'

interface Chosen {
  /** `provider/model`; null when there is none. */
  readonly model: string | null
  readonly why: string
  /** What the configuration names, and is not asked. */
  readonly instead?: string
}

type Query = { readonly directory: string }
const OFFLINE = 'svc/offline'

/** As a session that names no model gets it: of its agent, else of the configuration, else of the first provider that can be used. */
export async function chosenModel(client: Client, query: Query): Promise<Chosen> {
  const { defaultAgent, model } = await client.config.defaults(query)
  const agent = (await client.agents.list(query)).find(({ name }) => name === defaultAgent)
  if (agent?.model !== undefined) return { model: `${agent.model.providerId}/${agent.model.id}`, why: `the agent "${agent.name}" names it` }
  const config: unknown = await client.config.get(query)
  const named = namedModel(config)
  if (named === model) return { model, why: '"model" of the configuration names it' }
  const why = model === OFFLINE ? 'no provider can be used' : 'it is the best known of the first provider that can be used'
  return { model, why, ...(named !== undefined && { instead: named }) }
}

/** In the whole document its part of the agent may stand below `agent`. */
function namedModel(config: unknown): string | undefined {
  if (!isRecord(config)) return undefined
  const { model } = config
  return typeof model === 'string' ? model : undefined
}

/** An error when the first prompt would not be answered, or not by what the configuration names. */
export async function modelFinding(client: Client, query: Query): Promise<Finding> {
  const check = 'model'
  try {
    const { model, why, instead } = await chosenModel(client, query)
    if (model === null) return { level: 'error', check, detail: 'there is none -> svc models' }
    if (instead !== undefined) {
      const detail = `"${instead}" of the configuration cannot be used -> svc run --model ${instead} "hello" says why; svc models lists others`
      return { level: 'error', check, detail }
    }
    if (model === OFFLINE)
      return { level: 'warning', check, detail: `${model}, which is no AI: ${why} -> svc models tells the one step to another` }
    return { level: 'ok', check, detail: `${model}: ${why}; svc doctor --online asks it` }
  } catch (error) {
    return { level: 'error', check, detail: failureText(error).split('\n')[0] ?? '' }
  }
}
