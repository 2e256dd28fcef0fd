/**
 * What a workspace may set (threat-model W1, W3, W4; choice 36): content nobody accepted narrows and never widens. A key that has
 * no row has no effect in a file of a workspace, also one that the schema gets later; what names a program, an endpoint, a
 * credential, consent or a file elsewhere has none.
 */
import * as z from 'zod'
import {
  AgentConfig,
  AgentDocument,
  CommandConfig,
  INSTALLATION_KEYS,
  ProviderConfig,
  ProviderModelConfig,
} from '../../../protocol/resource/agent-config.js'
import { CompactionConfig } from '../../../protocol/resource/config.js'
import { WORKSPACE_OPTIONS } from '../../../protocol/resource/workspace-options.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { recordAt, stringsAt } from './config-merge.js'
import { readNamedPath } from './named-paths.js'
import { apart, each, listed, ONLY_INSTALLATION, onlyValues, plain, record, type Rule, shaped, type Spot } from './workspace-rules.js'

const amount = z.number().min(0)
const rates = { input: amount.optional(), output: amount.optional() }
const cache = z.strictObject({ read: amount.optional(), write: amount.optional() }).optional()
const Cost = z.strictObject({ ...rates, cache, experimentalOver200k: z.strictObject({ ...rates, cache }).optional() })

const options = listed(new Map([...WORKSPACE_OPTIONS].map(([name, schema]): [string, Rule] => [name, shaped(schema)])))
const compaction = record(
  { auto: plain, buffer: plain, keep: record({ tokens: plain }, []), prune: plain, 'threshold-percent': plain },
  Object.keys(CompactionConfig.shape),
)

const MODEL = {
  id: plain,
  name: plain,
  family: plain,
  attachment: plain,
  reasoning: plain,
  temperature: plain,
  toolCall: plain,
  limit: record({ context: plain, output: plain, input: plain }, []),
  options,
  variants: each(options),
  compaction,
  cost: shaped(Cost),
  status: plain,
  releaseDate: plain,
}
/** Keys of a model that are read beside those of the schema. */
const READ_OF_MODELS = ['interleaved', 'modalities']

const describedModel = record(MODEL, [...Object.keys(ProviderModelConfig.shape), ...READ_OF_MODELS])
/** Other signs are for the vendor: `:online` brings its search, `@preset/…` its instructions. */
const PLAIN_MODEL = /^\w[\w.-]*(?:\/\w[\w.-]*)*$/

/** What is asked for is called by a plain name, unless the installation names it, too. */
function plainModel(value: unknown, spot: Spot): unknown {
  const [, providerId = '', , key = ''] = spot.keys
  const id = isRecord(value) && typeof value['id'] === 'string' ? value['id'] : key
  const known = recordAt(recordAt(recordAt(spot.ground.trusted, 'provider'), providerId), 'models')
  const names = Object.entries(known).flatMap(([name, model]) => [
    name,
    ...(isRecord(model) && typeof model['id'] === 'string' ? [model['id']] : []),
  ])
  if (PLAIN_MODEL.test(id) || names.includes(id)) return describedModel(value, spot)
  return spot.refuse(spot.keys, `the model "${id}" has signs in its name that a vendor may take for more than a name; ${ONLY_INSTALLATION}`)
}

const PROVIDER = {
  name: plain,
  models: each(plainModel),
  compatibility: record({ streamUsage: plain, reasoningEffort: plain }, []),
}

const AGENT = {
  name: plain,
  model: plain,
  variant: plain,
  temperature: plain,
  topP: plain,
  prompt: plain,
  description: plain,
  mode: plain,
  hidden: plain,
  color: plain,
  disable: switchedOffAgent,
  steps: fewerSteps,
  options,
  compaction,
  permission: apart,
  tools: apart,
}

const COMMAND = { name: plain, description: plain, template: plain, agent: plain, model: plain, subtask: plain }
const EXPERIMENTAL = { disablePasteSummary: plain, batchTool: plain, primaryTools: plain }

/** One row for each key of the document that a workspace may set. */
const WORKSPACE_TABLE: Readonly<Record<string, Rule>> = {
  $schema: plain,
  model: plain,
  smallModel: plain,
  variant: plain,
  textVerbosity: plain,
  defaultAgent: plain,
  username: plain,
  compaction,
  agent: each(record(AGENT, Object.keys(AgentConfig.shape))),
  command: each(record(COMMAND, Object.keys(CommandConfig.shape))),
  permission: apart,
  tools: apart,
  dangerouslySkipPermissions: onlyValues(false),
  provider: each(knownProvider),
  enabledProviders: fewerProviders,
  disabledProviders: moreWithoutUse,
  plugins: each((value, spot) => (value === false ? value : switchedOff(value, spot))),
  mcp: each(switchedOff),
  lsp: onlyValues(false),
  formatter: onlyValues(false),
  skills: record({ paths: inside }, ['urls']),
  instructions: inside,
  watcher: record({ ignore: plain }, []),
  share: onlyValues('manual', 'disabled'),
  autoshare: onlyValues(false),
  autoupdate: onlyValues(false),
  experimental: record(EXPERIMENTAL, ['openTelemetry']),
}

/** The document of a workspace. */
export const WORKSPACE_DOCUMENT: Rule = record(WORKSPACE_TABLE, [...Object.keys(AgentDocument.shape), ...INSTALLATION_KEYS])

/** An entry of a map of programs: a workspace may switch it off and nothing else. */
function switchedOff(value: unknown, { keys, refuse }: Spot): unknown {
  if (isRecord(value) && isSwitchedOff(value)) {
    for (const key of Object.keys(value)) if (!OFF.includes(key)) refuse([...keys, key], ONLY_INSTALLATION)
    return Object.fromEntries(Object.entries(value).filter(([key]) => OFF.includes(key)))
  }
  return refuse(keys, 'a workspace may only switch it off; ' + ONLY_INSTALLATION)
}

const OFF = ['enabled', 'disable', 'disabled']

function isSwitchedOff(value: JsonRecord): boolean {
  return value['enabled'] === false || value['disable'] === true || value['disabled'] === true
}

/** Providers first defined in a workspace are inert (W2); those of the installation may get models, never another endpoint. */
function knownProvider(value: unknown, spot: Spot): unknown {
  const id = spot.keys.at(-1) ?? ''
  if (Object.hasOwn(recordAt(spot.ground.trusted, 'provider'), id)) return record(PROVIDER, Object.keys(ProviderConfig.shape))(value, spot)
  return spot.refuse(spot.keys, 'a provider that the installation configuration does not define is not used')
}

function fewerProviders(value: unknown, { keys, ground, refuse }: Spot): unknown {
  const allowed = stringsAt(ground.trusted, 'enabledProviders')
  if (allowed === undefined) return value
  return stringsAt({ value }, 'value')?.filter((id) => {
    if (allowed.includes(id)) return true
    refuse(keys, `"${id}" is not enabled by the installation configuration`)
    return false
  })
}

function moreWithoutUse(value: unknown, { ground }: Spot): unknown {
  return [...new Set([...(stringsAt(ground.trusted, 'disabledProviders') ?? []), ...(stringsAt({ value }, 'value') ?? [])])]
}

/** Sessions that plan ask before they change anything because that agent is there. */
function switchedOffAgent(value: unknown, spot: Spot): unknown {
  if (value !== true || spot.keys.at(-2) !== 'plan') return plain(value, spot)
  return spot.refuse(spot.keys, 'sessions that plan would do so as another agent; ' + ONLY_INSTALLATION)
}

/** A limit of the installation can be lowered. */
function fewerSteps(value: unknown, spot: Spot): unknown {
  const most = recordAt(recordAt(spot.ground.trusted, 'agent'), spot.keys.at(-2) ?? '')['steps']
  if (typeof most !== 'number' || most === 0 || (typeof value === 'number' && value > 0 && value <= most)) return plain(value, spot)
  return spot.refuse(spot.keys, `the installation configuration allows ${most} steps`)
}

/** Entries of a list of paths that stay in the worktree; links are judged when the files are read. */
function inside(value: unknown, { keys, ground, refuse }: Spot): unknown {
  if (!Array.isArray(value)) return undefined
  return value.filter((entry) => {
    const named = readNamedPath(String(entry), { trust: 'workspace', home: '', worktree: ground.worktree })
    if (!named.ok) refuse(keys, `"${String(entry)}" ${named.reason}`)
    return named.ok
  })
}
