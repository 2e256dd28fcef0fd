/**
 * Keys that configuration may hold and this server does nothing with (choice 23). Each says why; a value that asks for
 * what happens anyway, such as `"lsp": false`, is no complaint.
 */
import { AgentConfig, CommandConfig, ProviderConfig, ProviderModelConfig } from '../../../protocol/resource/agent-config.js'
import { configuredFormatters, FORMATTER_KEYS } from '../../../protocol/format/formatters.js'
import { LSP_ADAPTERS } from '../../../protocol/lsp/adapters.js'
import { serverFault } from '../../../protocol/mcp/mcp-config.js'
import { CompactionConfig } from '../../../protocol/resource/config.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { nearest } from '../../../protocol/text/nearest.js'
import { recordAt } from './config-merge.js'
import { isAddress } from './named-paths.js'

export interface Unsupported {
  /** In the flat document. */
  readonly path: readonly (string | number)[]
  /** The rest of a sentence that starts with the key. */
  readonly reason: string
}

type Reason = (value: unknown) => string | undefined

const unless =
  (isMet: (value: unknown) => boolean, reason: string): Reason =>
  (value) =>
    isMet(value) ? undefined : reason
const isFalse = (value: unknown) => value === false
const isEmpty = (value: unknown) => isRecord(value) && Object.keys(value).length === 0

const DOCUMENT: Readonly<Record<string, Reason>> = {
  watcher: unless(isEmpty, 'no setting of the file watcher is read'),
  share: unless((value) => value === 'disabled', 'this server does not share sessions'),
  autoshare: unless(isFalse, 'this server does not share sessions'),
  autoupdate: unless(isFalse, 'this server does not update itself'),
  experimental: unless(
    (value) => isRecord(value) && Object.values(value).every((each) => each === false || (Array.isArray(each) && each.length === 0)),
    'no experimental setting is read',
  ),
}

const AGENT_KEYS = new Set(Object.keys(AgentConfig.shape))
const PROVIDER_KEYS = new Set(Object.keys(ProviderConfig.shape))
const MODEL_KEYS = new Set([...Object.keys(ProviderModelConfig.shape), 'interleaved', 'modalities', 'cost', 'status', 'releaseDate'])
/** Of a language server: what is read, and what is only for servers that are reached in another way or narrowed. */
const SERVER_KEYS = new Set([
  'enabled',
  'disabled',
  'adapter',
  'name',
  'command',
  'language',
  'extensions',
  'filenamePatterns',
  'routes',
  'transport',
  'endpoint',
  'host',
  'port',
  'markers',
  'rootMarkers',
  'rootStrategy',
  'capabilities',
  'env',
  'documentLanguageId',
  'initialization',
  'initializationOptions',
  'settings',
])
const COMMAND_KEYS = new Set(Object.keys(CommandConfig.shape))
const SKILL_KEYS = new Set(['paths', 'urls'])
const COMPACTION_KEYS = new Set(Object.keys(CompactionConfig.shape))
const NETWORK_KEYS = new Set(['localModels'])
const WORKFLOW_KEYS = new Set(['acceptance'])
const ACCEPTANCES = ['repository', 'required', 'files']
const KEEP_KEYS = new Set(['tokens'])
const COMPATIBILITY_KEYS = new Set(['streamUsage', 'reasoningEffort'])
/** Of the options of a provider, those that svc itself reads. */
const OPTION_KEYS = ['baseURL', 'apiKey', 'headers']
const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')
const UNKNOWN = 'it is not a key of this place'

/** In a normalised layer, in its order. */
export function findUnsupported(document: JsonRecord): readonly Unsupported[] {
  return Object.entries(document).flatMap(([key, value]): readonly Unsupported[] => {
    const reason = Object.hasOwn(DOCUMENT, key) ? DOCUMENT[key]?.(value) : undefined
    if (reason !== undefined) return [{ path: [key], reason }]
    switch (key) {
      case 'skills':
        return [
          ...strays(recordAt(document, key), [key], SKILL_KEYS),
          ...(stringsIn(recordAt(document, key)['urls']).length > 0 ? found([key, 'urls'], 'this server does not fetch skills') : []),
        ]
      case 'instructions':
        return stringsIn(value).flatMap((entry, index) =>
          isAddress(entry) ? found([key, index], 'this server does not fetch instructions') : [],
        )
      case 'agent':
        return each(document, key, inAgent)
      case 'command':
        return each(document, key, (command, path) => strays(command, path, COMMAND_KEYS))
      case 'compaction':
        return inCompaction(recordAt(document, key), [key])
      case 'provider':
        return each(document, key, inProvider)
      case 'lsp':
        return Object.entries(recordAt(document, key)).flatMap(([id, server]) => inLanguageServer(server, [key, id]))
      case 'network':
        return strays(recordAt(document, key), [key], NETWORK_KEYS)
      case 'workflows':
        return inWorkflows(recordAt(document, key), [key])
      case 'mode':
        return found([key], 'it is no map of agents')
      case 'formatter':
        return inFormatters(value)
      case 'mcp':
        return Object.entries(recordAt(document, key)).flatMap(([name, server]) => {
          const fault = serverFault(name, server)
          return found([key, name], fault && `it is no server that can be used: ${fault}`)
        })
      default:
        return []
    }
  })
}

function inAgent(agent: JsonRecord, path: Unsupported['path']): readonly Unsupported[] {
  return [...strays(agent, path, AGENT_KEYS), ...inCompaction(recordAt(agent, 'compaction'), [...path, 'compaction'])]
}

function inCompaction(settings: JsonRecord, path: Unsupported['path']): readonly Unsupported[] {
  return [...strays(settings, path, COMPACTION_KEYS), ...strays(recordAt(settings, 'keep'), [...path, 'keep'], KEEP_KEYS)]
}

function inProvider(provider: JsonRecord, path: Unsupported['path']): readonly Unsupported[] {
  return [
    ...strays(provider, path, PROVIDER_KEYS),
    ...strays(recordAt(provider, 'compatibility'), [...path, 'compatibility'], COMPATIBILITY_KEYS),
    ...Object.keys(recordAt(provider, 'options')).flatMap((key) => {
      const meant = OPTION_KEYS.find((name) => name !== key && plain(name) === plain(key))
      return meant === undefined ? [] : found([...path, 'options', key], `it is sent to the model as it is; did you mean "${meant}"?`)
    }),
    ...(Object.hasOwn(recordAt(provider, 'options'), 'timeout')
      ? found([...path, 'options', 'timeout'], 'SVC_AGENT_PROVIDER_STREAM_IDLE_TIMEOUT_MS bounds the silence of a model')
      : []),
    ...each(provider, 'models', (model, at) => strays(model, at, MODEL_KEYS), path),
  ]
}

/** One of another name is a server of its own, which something has to start or reach. */
function inLanguageServer(server: unknown, path: Unsupported['path']): readonly Unsupported[] {
  if (server === false) return []
  const id = String(path.at(-1))
  const ids = LSP_ADAPTERS.map((adapter) => adapter.id)
  if (!isRecord(server)) return found(path, 'it is no language server: false, or an object, is meant here')
  const isReached = ['command', 'adapter', 'transport', 'endpoint', 'host', 'port'].some((key) => Object.hasOwn(server, key))
  const isOff = server['enabled'] === false || server['disabled'] === true
  const meant = nearest(id, ids)
  const unknown = `there is no language server of this name, and it has no command${meant === undefined ? '' : `; did you mean "${meant}"?`}`
  return [...(ids.includes(id) || isReached || isOff ? [] : found(path, unknown)), ...strays(server, path, SERVER_KEYS)]
}

function inWorkflows(settings: JsonRecord, path: Unsupported['path']): readonly Unsupported[] {
  const { acceptance } = settings
  const isKnown = acceptance === undefined || (typeof acceptance === 'string' && ACCEPTANCES.includes(acceptance))
  const problem = `it is none of ${ACCEPTANCES.join(', ')}, so that everything has to be accepted`
  return [...(isKnown ? [] : found([...path, 'acceptance'], problem)), ...strays(settings, path, WORKFLOW_KEYS)]
}

function inFormatters(formatter: unknown): readonly Unsupported[] {
  const faults = new Map(configuredFormatters(formatter).map(({ id, fault }) => [id, fault]))
  return Object.entries(recordAt({ formatter }, 'formatter')).flatMap(([id, entry]) => {
    const fault = faults.get(id)
    if (fault !== undefined) return found(['formatter', id], `it is no formatter that can be used: ${fault}`)
    return isRecord(entry) ? strays(entry, ['formatter', id], FORMATTER_KEYS) : []
  })
}

function each(
  holder: JsonRecord,
  key: string,
  look: (record: JsonRecord, path: Unsupported['path']) => readonly Unsupported[],
  above: Unsupported['path'] = [],
): readonly Unsupported[] {
  return Object.entries(recordAt(holder, key)).flatMap(([name, record]) => (isRecord(record) ? look(record, [...above, key, name]) : []))
}

function strays(record: JsonRecord, path: Unsupported['path'], known: ReadonlySet<string>): readonly Unsupported[] {
  return Object.keys(record).flatMap((key) => {
    if (known.has(key)) return []
    const meant = nearest(key, [...known])
    return found([...path, key], meant === undefined ? UNKNOWN : `${UNKNOWN}; did you mean "${meant}"?`)
  })
}

function found(path: Unsupported['path'], reason: string | undefined): readonly Unsupported[] {
  return reason === undefined ? [] : [{ path, reason }]
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
