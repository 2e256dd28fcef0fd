/** What this server does with each key of its configuration, for documents and editors. */
import { AgentDocument } from '../../../protocol/resource/agent-config.js'
import { CONFIG_KEYS, configSchema } from '../../../protocol/resource/config-keys.js'
import { findUnsupported } from './config-unsupported.js'

/** A value that asks for something, whatever the key: what is without effect has no effect with it either. */
const ASKING = { x: {} }

/** Why nothing is done with a key, as the rest of a sentence that starts with it; undefined = something is. */
function whyWithoutEffect(key: string): string | undefined {
  return findUnsupported({ [key]: ASKING }).find(({ path }) => path.length === 1)?.reason
}

/** The JSON Schema of a configuration file as this server understands it. */
export function publishedConfigSchema(): Readonly<Record<string, unknown>> {
  return configSchema(whyWithoutEffect)
}

interface KeyRow {
  readonly key: string
  /** JSON Schema of its value. */
  readonly schema: unknown
  readonly set: string
  /** What it does, or why nothing. */
  readonly effect: string
  readonly hasEffect: boolean
}

/** Every key of the agent document, in its order. */
export function configKeyRows(): readonly KeyRow[] {
  const { properties } = publishedConfigSchema()
  const schemas = new Map<string, unknown>(typeof properties === 'object' && properties !== null ? Object.entries(properties) : [])
  return Object.keys(AgentDocument.shape).flatMap((key) => {
    const purpose = Object.entries(CONFIG_KEYS).find(([name]) => name === key)?.[1]
    if (purpose === undefined) return []
    const reason = whyWithoutEffect(key)
    return [{ key, schema: schemas.get(key), set: purpose.set, effect: reason ?? purpose.does, hasEffect: reason === undefined }]
  })
}
