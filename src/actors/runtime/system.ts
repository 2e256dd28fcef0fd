/** The system facade: health, versions, identity, capabilities, directories, tools and the audit log (subsystems o; http-contract §2.1). */
import { API_VERSION } from '../../protocol/api.js'
import { SvcError } from '../../protocol/errors.js'
import { SCHEMA_VERSION } from '../../protocol/event/event.js'
import type { Tool } from '../../protocol/resource/resource.js'
import type { Capability, Readiness } from '../../protocol/system/system.js'
import { type Deployment, LOCAL_DEPLOYMENT } from './deployment.js'
import type { Hosting } from '../tenancy/hosted-session.js'
import type { Store } from '../../store/store.js'
import { isManagementOn } from './management.js'
import { createDirectories } from './directories.js'
import type { Effects } from '../../ports/effects.js'
import type { Configs, Providers, Resources, System } from '../../ports/facades.js'
import { defineTools } from '../plugin/calls/tool-definitions.js'
import type { WorkspacePlugins } from '../../ports/view.js'
import type { ToolDefinition } from '../../ports/provider-adapter.js'

export interface SystemDeps {
  readonly effects: Pick<Effects, 'clock' | 'env' | 'files' | 'ids' | 'paths' | 'platform'>
  readonly store: Pick<Store, 'audit' | 'transact'>
  readonly configs: Pick<Configs, 'load'>
  readonly resources: Pick<Resources, 'defaultAgent'>
  readonly providers: Pick<Providers, 'defaultModel'>
  readonly hosting: Pick<Hosting, 'policy'>
  readonly plugins: Pick<WorkspacePlugins, 'ready' | 'prepared'> & {
    /** What plugins add to what the server can do. */
    capabilities(directory: string): Promise<Capability[]>
  }
  /** Version of the server. */
  readonly version: string
  /** Number of the active plugin registry generation. */
  readonly generation: () => number
  readonly readiness: () => Promise<Readiness>
  /** How tenants are told apart, in a word. */
  readonly tenantResolver?: (() => string) | undefined
  /** What this server is for; absent = for whoever started it. */
  readonly deployment?: Deployment | undefined
}

const PLUGIN_API_VERSION = '1.0.0'
const IDENTITY_LENGTH = 32

/** What every server has, and the routes it is reached by; the rest is what plugins add. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  'svc.sessions': '/v2/sessions',
  'svc.events': '/v2/events',
  'svc.permissions': '/v2/interactions',
  'svc.identity': '/v2/identity',
  'svc.directories': '/v2/directories',
  'svc.config': '/v2/config',
  'svc.agents': '/v2/agents',
  'svc.commands': '/v2/commands',
  'svc.skills': '/v2/skills',
  'svc.providers': '/v2/providers',
  'svc.artifacts': '/v2/artifacts',
}
/** Resolves once the working directory is known in canonical form. */
export async function createSystem(deps: SystemDeps): Promise<System> {
  const { effects, store, configs, resources, providers, version } = deps
  const workingDirectory = await effects.files.realPath(effects.paths.cwd)
  const directories = createDirectories(effects, workingDirectory)
  const { name: deployment, executes, worker, models, absent = [] } = deps.deployment ?? LOCAL_DEPLOYMENT

  return {
    workingDirectory,
    installationDirectory: effects.paths.config,
    health: async () => ({
      healthy: true,
      version,
      providerCredentialStore: models === undefined ? 'file' : 'host',
      tenantResolver: deps.tenantResolver?.() ?? 'local',
      deployment,
      executionAvailable: executes,
      artifactStore: 'local',
      artifactStoreShared: false,
      hostedControlPlane: deployment === 'shared-control-plane',
      readiness: await deps.readiness(),
    }),
    meta: () => ({
      apiVersion: API_VERSION,
      serverVersion: version,
      pluginApiVersion: PLUGIN_API_VERSION,
      eventSchemaVersion: SCHEMA_VERSION,
      partSchemaVersion: SCHEMA_VERSION,
      generation: deps.generation(),
    }),
    runtime: () => ({ deployment, executionAvailable: executes, ...(worker !== undefined && { worker }) }),
    hostedExecution: () => deps.hosting.policy(),
    async identity() {
      const { env, platform, paths } = effects
      const configured = personName(env['SVC_DISPLAY_NAME']) ?? personName(await configuredName(configs, paths.config))
      return { configuredName: configured, systemName: personName(env['USER']) ?? personName(env['USERNAME']) ?? personName(platform.user) }
    },
    capabilities: async (directory) => [
      ...capabilitiesOf(version, effects),
      ...(await deps.plugins.capabilities(directory)),
      ...absent.map(({ id, apiPrefix }) => notExecuted(version, id, apiPrefix)),
    ],
    directories: (caller, path) => directories.list(caller, path),
    canonicalDirectory: (path, base = workingDirectory) => directories.canonical(path, base),
    completeDirectory: directories.complete,
    async tools(directory, sessionId) {
      await deps.plugins.ready(directory, sessionId, sessionId === undefined ? undefined : () => false)
      const view = await deps.plugins.prepared(directory, sessionId, { signal: new AbortController().signal })
      const { definitions } = await defineTools(view, view.tools, effects.clock, { signal: new AbortController().signal })
      return definitions.map(toTool)
    },
    // An entry names no workspace: who is for one sees its own.
    audit: ({ tenantId, workspaceId, subject }, limit) =>
      store.audit.list({ tenantId: worker?.tenantId ?? tenantId, limit, ...(workspaceId !== undefined && { subject }) }),
    recordAudit({ caller, method, path, status }) {
      const created = effects.clock.now()
      const entry = {
        id: effects.ids.next('aud'),
        tenantId: worker?.tenantId ?? caller.tenantId,
        subject: caller.subject,
        method,
        path,
        status,
        created,
      }
      store.transact('process', () => store.audit.insert(entry))
    },
    async defaults(directory) {
      const [config, agent, model] = await Promise.all([
        configs.load(directory),
        orNothing(resources.defaultAgent(directory)),
        orNothing(providers.defaultModel(directory)),
      ])
      const variant = config['variant']
      return {
        defaultAgent: agent?.record.name ?? null,
        model: model === undefined ? null : `${model.providerId}/${model.id}`,
        variant: model?.variant ?? (typeof variant === 'string' ? variant : null),
      }
    },
  }
}

/** Management is there for whoever has the token of the operator, so not without one. */
function capabilitiesOf(version: string, effects: Pick<Effects, 'env'>): Capability[] {
  const isManaged = isManagementOn(effects) && (effects.env['SVC_AGENT_TOKEN'] ?? '') !== ''
  const there = Object.entries({ ...CAPABILITIES, ...(isManaged && { 'svc.management': '/v2/management' }) })
  const common = { version, disableable: false, source: 'core' } as const
  return there.map(([id, apiPrefix]) => ({ ...common, id, enabled: true, apiPrefix }))
}

function notExecuted(version: string, id: string, apiPrefix: string | undefined): Capability {
  const common = { version, disableable: false, source: 'core', enabled: false, reason: 'nothing is executed on a shared control plane' }
  return { ...common, id, ...(apiPrefix !== undefined && { apiPrefix }) }
}

function toTool({ id, description, parameters, outputSchema }: ToolDefinition): Tool {
  return { id, description, parameters, ...(outputSchema === undefined ? {} : { outputSchema }) }
}

/** `username` of the installation; nothing while its configuration cannot be read. */
async function configuredName(configs: SystemDeps['configs'], installation: string): Promise<string | undefined> {
  try {
    const name = (await configs.load(installation))['username']
    return typeof name === 'string' ? name : undefined
  } catch (error) {
    if (error instanceof SvcError && error.code === 'config.invalid') return undefined
    throw error
  }
}

async function orNothing<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value
  } catch (error) {
    if (error instanceof SvcError && (error.code === 'resource.not_found' || error.code === 'request.invalid')) return undefined
    throw error
  }
}

/** A name as it is shown: trimmed, without invisible characters, at most 32 characters; null when nothing is left. */
function personName(text: string | undefined): string | null {
  const name = [...(text ?? '').replace(/[\p{Cc}\p{Cf}]/gu, '').trim()].slice(0, IDENTITY_LENGTH).join('').trim()
  return name === '' ? null : name
}
