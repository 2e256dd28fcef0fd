/** Servers of the Model Context Protocol: `dev.svc.mcp` (subsystems f). The library of the protocol is loaded when the first server is connected. */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import { isRecord } from '../../protocol/text/json.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import { hasAuthorization, isForPeople } from '../../protocol/mcp/mcp-config.js'
import { MCP_PREFIX } from '../../protocol/mcp/mcp.js'
import { createCredentials } from './oauth/credentials.js'
import { authOperations } from './oauth/operations.js'
import { createSignIns } from './oauth/sign-ins.js'
import { createSecrets, withHiddenSecrets } from './link/secrets.js'
import { askPerson } from './offer/questions.js'
import { createSampling } from './offer/sampling.js'
import { createOffering } from './offer/within.js'
import { serverOperations } from './operations.js'
import { createConnection } from './servers/connection.js'
import { createWorkspaces } from './servers/workspaces.js'

export interface McpPluginOptions {
  /** The environment of the server, for `{env:NAME}` in the configuration. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
}

const DEFAULT_URL = 'http://127.0.0.1:4096'
const PLUGIN = 'dev.svc.mcp'

export function mcpPlugin({ env, version }: McpPluginOptions): NativePlugin {
  let started: ReturnType<typeof start> | undefined
  return {
    id: PLUGIN,
    name: 'MCP servers',
    capability: { id: 'svc.mcp', apiPrefix: MCP_PREFIX },
    eventNamespaces: ['mcp'],
    start(host) {
      started = start(host, { env, version })
      return started.contributions
    },
    async stop() {
      started?.signIns.stop()
      await started?.workspaces.stop()
    },
  }
}

function start(host: NativeHost, { env, version }: McpPluginOptions) {
  const { rows, questions } = host
  const secrets = createSecrets()
  const effects = withHiddenSecrets(host.effects, secrets)
  const sampling = createSampling(host)
  const budgets = createLru<string, number>(LIMITS.mcp.workspaces)
  const signIns = createSignIns({
    effects,
    actors: host.actors,
    credentials: createCredentials(effects),
    baseUrl: () => (env['SVC_SERVER'] || host.serverUrl() || DEFAULT_URL).replace(/\/+$/, ''),
  })
  const workspaces = createWorkspaces({
    config: (directory) => host.config(directory),
    brought: (directory, key) => host.configEntries.brought(directory, key),
    programs: host.programs,
    clock: effects.clock,
    connect: (place, onOffers) =>
      createConnection(
        {
          effects,
          programs: host.programs,
          variables: place.program.isNamed ? env : {},
          secrets,
          version,
          actors: host.actors,
          onOffers,
          ask: (request, context, signal) =>
            askPerson(questions, place.server, request, { ...context, signal: AbortSignal.any([signal, context.signal]) }),
          sample: (request, context, signal) => sampling.ask(place, request, context, signal),
        },
        {
          ...place,
          isUnregistered: () => signIns.isUnregistered(place.server),
          authorization:
            place.config.type === 'remote' && place.config.oauth !== false
              ? signIns.authorization({ server: place.server, config: place.config })
              : undefined,
        },
      ),
    wantsSignIn: async (server, config) =>
      isForPeople(config) && !hasAuthorization(config) && !(await signIns.hasCredentials(server, config.url)),
    onOffers(directory, server, kind) {
      offering.forget(directory)
      host.offersChanged()
      if (kind === 'prompts' || kind === 'resources') return
      rows.commit('process', (tx) => tx.emit('mcp.tools.changed', { directory, server }))
    },
  })
  const offering = createOffering({
    rows,
    sha256: effects.sha256,
    log: effects.log,
    sampled: sampling.sampled,
    workspaces,
    connection: (directory, server) => workspaces.connection(directory, server),
    budget: (directory) => budgets.get(directory) ?? LIMITS.mcp.toolBudget,
  })
  const contributions: ReturnType<NativePlugin['start']> = {
    operations: {
      ...serverOperations({ host, workspaces, hasCredentials: signIns.hasCredentials }),
      ...authOperations({ workspaces, signIns }),
    },
    within: (directory) => offering.within(directory),
    async prepare(directory, signal, run) {
      try {
        const budget = budgetOf(await host.config(directory))
        if (budgets.get(directory) !== budget) {
          const isFirst = budgets.get(directory) === undefined
          budgets.set(directory, budget)
          if (!isFirst || budget !== LIMITS.mcp.toolBudget) host.offersChanged()
        }
        await workspaces.prepare(directory, signal, run)
      } catch (error) {
        effects.log.warn('the MCP servers of a directory could not be looked at', { directory, cause: String(error) })
      }
    },
  }
  return { workspaces, signIns, contributions }
}

/** `plugins."dev.svc.mcp".options.toolBudget`: characters. */
function budgetOf(configuration: Readonly<Record<string, unknown>>): number {
  const { plugins } = configuration
  const entry = isRecord(plugins) ? plugins[PLUGIN] : undefined
  const options = isRecord(entry) && isRecord(entry['options']) ? entry['options'] : {}
  const budget = options['toolBudget']
  return typeof budget === 'number' && Number.isInteger(budget) && budget >= 0 ? budget : LIMITS.mcp.toolBudget
}
