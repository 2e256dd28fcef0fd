/**
 * Keys that configuration may hold and this server does nothing with (decision 23). Each says why; a value that asks for
 * what happens anyway, such as `"lsp": false`, is no complaint.
 */
import { AgentConfig, ProviderConfig, ProviderModelConfig } from '../../../protocol/resource/agent-config.js'
import { isRecord, type JsonRecord } from '../../../protocol/json.js'
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
const always = (reason: string): Reason => unless(() => false, reason)
const isFalse = (value: unknown) => value === false
const isEmpty = (value: unknown) => isRecord(value) && Object.keys(value).length === 0

const DOCUMENT: Readonly<Record<string, Reason>> = {
  shell: always('commands run in bash where it exists, else in the shell named by SHELL'),
  textVerbosity: always('set it in the options of a provider, a model or an agent'),
  formatter: unless(isFalse, 'this server does not format files'),
  mcp: unless(isSwitchedOff, 'this server has no MCP servers'),
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
const COMPATIBILITY_KEYS = new Set(['streamUsage', 'reasoningEffort'])
const UNKNOWN = 'it is not a key of this place'

/** In a normalised layer, in its order. */
export function findUnsupported(document: JsonRecord): readonly Unsupported[] {
  return Object.entries(document).flatMap(([key, value]): readonly Unsupported[] => {
    const reason = Object.hasOwn(DOCUMENT, key) ? DOCUMENT[key]?.(value) : undefined
    if (reason !== undefined) return [{ path: [key], reason }]
    switch (key) {
      case 'terminal':
        return Object.hasOwn(recordAt(document, key), 'shell') ? found([key, 'shell'], DOCUMENT['shell']?.(value)) : []
      case 'skills':
        return stringsIn(recordAt(document, key)['urls']).length > 0 ? found([key, 'urls'], 'this server does not fetch skills') : []
      case 'instructions':
        return stringsIn(value).flatMap((entry, index) =>
          isAddress(entry) ? found([key, index], 'this server does not fetch instructions') : [],
        )
      case 'agent':
        return each(document, key, (agent, path) => strays(agent, path, AGENT_KEYS))
      case 'provider':
        return each(document, key, inProvider)
      default:
        return []
    }
  })
}

function inProvider(provider: JsonRecord, path: Unsupported['path']): readonly Unsupported[] {
  return [
    ...strays(provider, path, PROVIDER_KEYS),
    ...strays(recordAt(provider, 'compatibility'), [...path, 'compatibility'], COMPATIBILITY_KEYS),
    ...(Object.hasOwn(recordAt(provider, 'options'), 'timeout')
      ? found([...path, 'options', 'timeout'], 'SVC_AGENT_PROVIDER_STREAM_IDLE_TIMEOUT_MS bounds the silence of a model')
      : []),
    ...each(provider, 'models', (model, at) => strays(model, at, MODEL_KEYS), path),
  ]
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
    return found([...path, key], UNKNOWN)
  })
}

function found(path: Unsupported['path'], reason: string | undefined): readonly Unsupported[] {
  return reason === undefined ? [] : [{ path, reason }]
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** Servers that are all switched off ask for nothing. */
function isSwitchedOff(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.values(value).every((server) => isRecord(server) && (server['enabled'] === false || server['disabled'] === true))
  )
}
