/** Values that can be read and change nothing, because what they name is not there (choice 23). */
import { compareWildcard } from '../../../machines/permission/wildcard.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { nearest } from '../../../protocol/text/nearest.js'
import type { ProviderContribution } from '../../../ports/plugin.js'
import { type Catalog, type CatalogProvider, readCatalog } from '../../provider/catalog/catalog.js'
import { readModelConfig } from '../../provider/catalog/models.js'
import type { Offered } from '../../provider/catalog/offered.js'
import { recordAt, stringsAt } from './config-merge.js'

/** What there is in a directory beside its configuration. */
export interface Surroundings {
  readonly contributions: readonly ProviderContribution[]
  readonly offered: Offered
  /** Names and permission groups of tools. */
  readonly tools: readonly string[]
  /** Ids of plugins. */
  readonly plugins: readonly string[]
  /** Entries for plugins that name nothing, or start nothing. */
  readonly idle?: readonly { readonly id: string; readonly reason: string }[]
}

/** Asked by svc itself, or by what it brings, whether a tool of the name is there or not. */
const GROUPS = `* read edit write patch apply_patch bash grep glob list webfetch websearch task task_result stop_task background_task
  background_task_result skill lsp mcp mcp_resource execute todowrite todoread question plan_enter plan_exit memory docs session_search move_chat
  artifact_read artifact_search media_make external_directory doom_loop network git sandbox sandbox_exec complete_goal`.split(/\s+/)

/** `written`: the documents of the layers, as they say it. */
export function checkValues(document: JsonRecord, there: Surroundings, written: readonly JsonRecord[]): ConfigDiagnostic[] {
  const catalog = readCatalog(document, there.contributions, { offered: there.offered, env: {}, address: () => undefined })
  return [
    ...checkProviderIds(document, catalog),
    ...checkChosenModels(document, catalog),
    ...checkModelEntries(document),
    ...checkVerbosity(document, catalog),
    ...checkGroups(document, there, written),
    ...checkPlugins(document, there),
  ]
}

function checkProviderIds(document: JsonRecord, { providers, switchedOff }: Catalog): ConfigDiagnostic[] {
  const known = [...providers.map(({ id }) => id), ...switchedOff]
  return ['enabledProviders', 'disabledProviders'].flatMap((key) =>
    (stringsAt(document, key) ?? []).flatMap((id) =>
      known.includes(id) ? [] : [warning(key, `there is no provider "${id}"${hint(id, known)}`)],
    ),
  )
}

/** Wherever a model is named, and the variant beside it. */
function checkChosenModels(document: JsonRecord, catalog: Catalog): ConfigDiagnostic[] {
  const agents = Object.entries(recordAt(document, 'agent')).map(([name, agent]) => ({
    at: `agent.${name}.`,
    holder: agent,
    alone: 'no "model"',
  }))
  const commands = Object.entries(recordAt(document, 'command')).map(([name, command]) => ({
    at: `command.${name}.`,
    holder: command,
    alone: '',
  }))
  return [{ at: '', holder: document as unknown, alone: 'no "model"' }, ...agents, ...commands].flatMap(({ at, holder, alone }) => {
    if (!isRecord(holder)) return []
    const found = ['model', 'smallModel'].flatMap((key) => told(at + key, problemOf(catalog, holder[key])))
    const { model, variant } = holder
    if (typeof variant !== 'string') return found
    if (typeof model !== 'string')
      return alone === '' ? found : [...found, warning(`${at}variant`, `has no effect: there is ${alone} beside it`)]
    const variants = chosen(catalog, model)?.provider.models.get(idOf(model))?.variants
    if (variants === undefined || Object.hasOwn(variants, variant)) return found
    const names = Object.keys(variants)
    const has = names.length === 0 ? 'none' : names.join(', ')
    return [...found, warning(`${at}variant`, `has no effect: the model "${model}" has no variant "${variant}"; it has ${has}`)]
  })
}

const idOf = (model: string) => model.slice(model.indexOf('/') + 1)

function chosen({ providers }: Catalog, model: string): { readonly provider: CatalogProvider } | undefined {
  const provider = providers.find(({ id }) => model.startsWith(`${id}/`))
  return provider && { provider }
}

/** Models that are looked for at the provider are known when it is asked. */
function problemOf(catalog: Catalog, model: unknown): string | undefined {
  if (typeof model !== 'string' || !model.includes('/')) return undefined
  const [id = ''] = model.split('/')
  if (catalog.switchedOff.has(id)) return `the provider "${id}" is switched off by enabledProviders or disabledProviders`
  const provider = chosen(catalog, model)?.provider
  if (provider === undefined)
    return `there is no provider "${id}"${hint(
      id,
      catalog.providers.map((each) => each.id),
    )}`
  if (provider.discoverModels || provider.models.has(idOf(model))) return undefined
  return `the provider "${id}" has no model "${idOf(model)}"${hint(idOf(model), [...provider.models.keys()])}`
}

function checkModelEntries(document: JsonRecord): ConfigDiagnostic[] {
  return Object.entries(recordAt(document, 'provider')).flatMap(([id, provider]) =>
    Object.entries(recordAt(provider, 'models')).flatMap(([name, model]) =>
      told(
        `provider.${id}.models.${name}`,
        readModelConfig(model) === undefined ? 'cannot be read, so that the model is not there' : undefined,
      ),
    ),
  )
}

/** Adapters whose API can be told how much to write; a provider that a plugin brings goes by its own id. */
function checkVerbosity(document: JsonRecord, { providers }: Catalog): ConfigDiagnostic[] {
  const named = Object.keys(recordAt(document, 'provider'))
  const configured = providers.filter(({ id, source }) => named.includes(id) || source === 'builtin').filter(({ id }) => id !== 'svc')
  const isTold = ({ id, npm }: CatalogProvider) => ['@ai-sdk/openai', '@openrouter/ai-sdk-provider', id].includes(npm)
  if (document['textVerbosity'] === undefined || configured.length === 0 || configured.some(isTold)) return []
  return [warning('textVerbosity', 'has no effect: no API of the configured providers can be told')]
}

/** What `tools` say has become permissions. */
function checkGroups(document: JsonRecord, { tools }: Surroundings, written: readonly JsonRecord[]): ConfigDiagnostic[] {
  const known = [...GROUPS, ...tools]
  const isKnown = (group: string) =>
    group.startsWith('mcp_') || known.some((name) => name === group || compareWildcard(group, name) === 'match')
  const holders = ['', ...Object.keys(recordAt(document, 'agent'))]
  const of = (from: JsonRecord, name: string) => (name === '' ? from : recordAt(recordAt(from, 'agent'), name))
  return holders.flatMap((name) =>
    Object.keys(recordAt(of(document, name), 'permission')).flatMap((group) => {
      if (isKnown(group)) return []
      const isSaid = written.some((layer) => Object.hasOwn(recordAt(of(layer, name), 'permission'), group))
      const path = `${name === '' ? '' : `agent.${name}.`}${isSaid ? 'permission' : 'tools'}.${group}`
      return [warning(path, `has no effect: no tool here goes by "${group}"${hint(group, known)}`)]
    }),
  )
}

function checkPlugins(document: JsonRecord, { plugins, idle = [] }: Surroundings): ConfigDiagnostic[] {
  const named = recordAt(document, 'plugins')
  const unused = idle.map(({ id, reason }) =>
    warning(Object.hasOwn(named, id) ? `plugins.${id}` : 'plugin', `"${id}" does not run: ${reason}`),
  )
  const misnamed = Object.entries(named).flatMap(([key, value]) => {
    if (typeof value === 'string')
      return [warning(`plugins.${key}`, `means the plugin "${value}", not "${key}"; true, false or an object is meant here`)]
    const id = key.startsWith('-') ? key.slice(1) : key
    if (plugins.length === 0 || !id.startsWith('dev.svc.') || id.includes('*') || plugins.includes(id)) return []
    return [warning(`plugins.${key}`, `there is no built-in plugin "${id}"${hint(id, plugins)}`)]
  })
  return [...misnamed, ...unused]
}

function told(path: string, problem: string | undefined): ConfigDiagnostic[] {
  return problem === undefined ? [] : [warning(path, problem)]
}

function hint(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

function warning(path: string, message: string): ConfigDiagnostic {
  return { level: 'warning', path, message }
}
