/** What is wrong with an effective configuration although it could be read (subsystems b.5). */
import { missingAdapter, readCatalog } from '../../provider/catalog/catalog.js'
import { isLiteral } from '../../provider/catalog/variables.js'
import { isKnownKey } from '../../../protocol/resource/agent-config.js'
import { CONFIG_KEYS } from '../../../protocol/resource/config-keys.js'
import { nearest } from '../../../protocol/text/nearest.js'
import type { ConfigDiagnostic, ConfigValidation } from '../../../protocol/resource/config.js'
import { publicText } from '../../../protocol/text/secrets.js'
import { readPluginEntries } from '../config/entries.js'
import { knownAgentNames, readAgents } from '../catalog/agents.js'
import { readCommands } from '../catalog/commands.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { recordAt, stringsAt } from '../config/config-merge.js'
import { checkValues, type Surroundings } from '../config/config-values.js'
import { looserEntries, sandboxFaults, sandboxOf, unknownActions } from '../config/permission-config.js'
import type { RefusedInstruction } from '../catalog/instructions.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'

/** Permissions of agents name places; what is asked here does not depend on them. */
const NOWHERE = { home: '', temporary: [], state: '' }

interface Found {
  /** Instruction files that were not read. */
  readonly refused?: readonly RefusedInstruction[]
  /** Without them adapters, and what only names things, are not judged. */
  readonly surroundings?: Surroundings | undefined
  /** Why commands cannot run in a sandbox here. */
  readonly noSandbox?: string | undefined
  /** Changes of the files are not told by the system. */
  readonly isDeaf?: boolean
}

/** Keys nobody knows that are told one by one, each with the key that may be meant. */
const UNKNOWN_TOLD = 128
const DEAF = 'changes of these files are looked for instead of being told: the system has no more watches, or does not tell'

/** All diagnostics of a snapshot; `ok` means that none is an error. */
export function validateSnapshot(
  snapshot: ConfigSnapshot,
  { refused = [], surroundings, noSandbox, isDeaf = false }: Found = {},
): ConfigValidation {
  const { document } = snapshot
  const found = [
    ...snapshot.diagnostics,
    ...refused.map(({ path, reason }) => warning('instructions', `${path} is not given to the model: it ${reason}`)),
    ...checkProviders(document),
    ...checkKeys(document),
    ...checkAgents(snapshot),
    ...checkModels(document, ''),
    ...checkCommands(snapshot),
    ...checkActions(snapshot),
    ...looserEntries(snapshot.trustedPermission, snapshot.narrowingPermission).map((path) =>
      warning(path, 'a workspace cannot loosen what the installation configuration says'),
    ),
    ...(isDeaf ? [warning('config', DEAF)] : []),
    ...checkSandbox(snapshot, noSandbox),
    ...checkHosted(snapshot),
    ...checkAdapters(snapshot, surroundings),
    ...(surroundings === undefined ? [] : checkValues(document, surroundings, [...snapshot.layers.values()])),
    ...readPluginEntries(snapshot.trusted, document).diagnostics,
    ...checkUnknown([...new Set([...Object.keys(document), ...Object.keys(snapshot.inert)])]),
  ]
  const diagnostics = found.map((each) => ({ ...each, message: publicText(each.message) }))
  return { ok: diagnostics.every(({ level }) => level !== 'error'), diagnostics }
}

function checkUnknown(keys: readonly string[]): ConfigDiagnostic[] {
  const unknown = keys.filter((key) => !isKnownKey(key))
  const told = unknown.slice(0, UNKNOWN_TOLD).map((key) => warning(key, unknownKey(key)))
  const left = unknown.length - told.length
  return left === 0 ? told : [...told, warning('config', `${left} further keys are not known`)]
}

/** What is said of a key of a document that nothing reads. */
function unknownKey(key: string): string {
  const near = nearest(key, Object.keys(CONFIG_KEYS))
  return `the key "${key}" is not known; it is kept and not used${near === undefined ? '' : `; did you mean "${near}"?`}`
}

function checkProviders(document: JsonRecord): ConfigDiagnostic[] {
  const disabled = new Set(stringsAt(document, 'disabledProviders'))
  const both = (stringsAt(document, 'enabledProviders') ?? []).filter((id) => disabled.has(id))
  return both.map((id) => error('providers', `"${id}" is both enabled and disabled`))
}

/** A key in a file works, and is best kept out of it; the address of a provider is the root of its API. */
function checkKeys(document: JsonRecord): ConfigDiagnostic[] {
  return Object.entries(recordAt(document, 'provider')).flatMap(([id, provider]) => {
    const { apiKey, baseURL } = recordAt(provider, 'options')
    const advice = 'the key stands in the file as it is; "{env:NAME}" takes it from the variable NAME, and a stored key needs neither'
    const [suffix] = (typeof baseURL === 'string' && /\/(?:models|chat\/completions)(?=\/*$)/.exec(baseURL)) || []
    return [
      ...(isLiteral(apiKey) ? [warning(`provider.${id}.options.apiKey`, advice)] : []),
      ...(suffix === undefined
        ? []
        : [
            warning(
              `provider.${id}.options.baseURL`,
              `must not end in "${suffix}": requests go to addresses below it, so to "${suffix}${suffix}"`,
            ),
          ]),
    ]
  })
}

function checkAgents(snapshot: ConfigSnapshot): ConfigDiagnostic[] {
  const { document } = snapshot
  const names = knownAgentNames(snapshot)
  const wanted = document['defaultAgent']
  const missing = typeof wanted === 'string' && !names.has(wanted) ? [warning('defaultAgent', `there is no agent "${wanted}"`)] : []
  const each = Object.entries(recordAt(document, 'agent')).flatMap(([name, agent]) => {
    if (!isRecord(agent)) return []
    const problems = checkModels(agent, `agent.${name}.`)
    if (name.trim() === '') problems.push(error('agent', 'an agent has an empty name'))
    if (agent['steps'] === 0) problems.push(error(`agent.${name}.steps`, 'must be at least 1'))
    return problems
  })
  return [...missing, ...each]
}

function checkModels(holder: JsonRecord, prefix: string): ConfigDiagnostic[] {
  return ['model', 'smallModel'].flatMap((key) => {
    const model = holder[key]
    return typeof model === 'string' && !model.includes('/') ? [warning(prefix + key, `"${model}" is not of the form provider/model`)] : []
  })
}

function checkCommands(snapshot: ConfigSnapshot): ConfigDiagnostic[] {
  const { unusable } = readCommands(snapshot, readAgents(snapshot, NOWHERE).entries)
  return unusable.map(({ name, key, reason, isUnsupported }) => ({
    ...warning(`command.${name}.${key}`, `${reason}; the command is not offered`),
    ...(isUnsupported && { code: 'unsupported' }),
  }))
}

/** Actions that are none of allow, deny and ask are ignored when rules are made, so people must hear of them (sessions-events §8.3). */
function checkActions({ trusted, workspace }: ConfigSnapshot): ConfigDiagnostic[] {
  const paths = [trusted, workspace].flatMap((document) => [
    ...unknownActions(document),
    ...Object.entries(recordAt(document, 'agent')).flatMap(([name, agent]) =>
      isRecord(agent) ? unknownActions(agent).map((path) => `agent.${name}.${path}`) : [],
    ),
  ])
  return [...new Set(paths)].map((path) => error(path, 'must be "allow", "deny" or "ask"; the rule is ignored'))
}

function checkSandbox({ trusted, workspace, document }: ConfigSnapshot, missing: string | undefined): ConfigDiagnostic[] {
  const faults = [trusted, workspace].flatMap((each) => sandboxFaults(each).map(({ path, message }) => error(path, message)))
  const isLooser = sandboxOf(trusted) === 'on' && sandboxOf(workspace) === 'off'
  if (isLooser) faults.push(warning('permission.sandbox', 'a workspace cannot switch off what the installation switched on'))
  if (missing !== undefined && sandboxOf(document) === 'on') faults.push(error('permission.sandbox', `no command can run: ${missing}`))
  return faults
}

const EXECUTIONS: readonly unknown[] = [undefined, 'sandbox', 'native', 'off']

function checkHosted({ trusted }: ConfigSnapshot): ConfigDiagnostic[] {
  const { execution } = recordAt(trusted, 'hosted')
  if (execution === 'native') return [warning('hosted.execution', 'nothing contains what agents of hosted callers run')]
  return EXECUTIONS.includes(execution) ? [] : [error('hosted.execution', 'must be "sandbox", "native" or "off"; it counts as "off"')]
}

function checkAdapters({ document, adapters }: ConfigSnapshot, surroundings: Surroundings | undefined): ConfigDiagnostic[] {
  if (surroundings === undefined) return []
  const { contributions, offered } = surroundings
  const { providers } = readCatalog(document, contributions, { offered, env: {}, address: () => undefined })
  return providers.flatMap((provider): ConfigDiagnostic[] => {
    if (provider.contribution !== undefined || provider.source === 'offered') return []
    const place = adapters.get(provider.id)
    const at = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `
    const message = `${at}${missingAdapter(provider, contributions)}`
    return [{ ...warning(`provider.${provider.id}.npm`, message), code: 'unsupported', ...place }]
  })
}

function error(path: string, message: string): ConfigDiagnostic {
  return { level: 'error', path, message }
}

function warning(path: string, message: string): ConfigDiagnostic {
  return { level: 'warning', path, message }
}
