import type { PluginSecret } from '../../src/protocol/plugin/plugin-settings.js'
import type { SignIns } from '../../src/ports/sign-ins.js'
import type { Artifacts } from '../../src/ports/artifacts.js'
import type {
  Configs,
  Connections,
  Events,
  Inspector,
  Metrics,
  Providers,
  Resources,
  Runtime,
  Sessions,
  System,
} from '../../src/ports/facades.js'
import type { Interactions } from '../../src/ports/interactions.js'
import type { Plugins } from '../../src/ports/plugins.js'
import type { ManagedMarkdown, Management } from '../../src/ports/managed.js'
import { SvcError } from '../../src/protocol/errors.js'
import type { Artifact } from '../../src/protocol/system/artifact.js'
import type { ManagedResource } from '../../src/protocol/resource/managed.js'
import type { SkillVersion } from '../../src/protocol/resource/managed-skills.js'
import type { ManagedRepository, ManagedWorkspace } from '../../src/protocol/workspace/workspaces.js'
import type { Message, Part } from '../../src/protocol/message/message.js'
import type { PackageLifecycleInfo, PluginManifest } from '../../src/protocol/plugin/plugin.js'
import type { Session } from '../../src/protocol/session/session.js'
import { OPERATION_ANSWERS } from './operations.js'

/** What a fake runtime was asked, newest last. */
interface FakeCall {
  readonly method: string
  readonly args: readonly unknown[]
}

export interface FakeRuntime extends Runtime {
  readonly calls: FakeCall[]
}

export type FacadeOverrides = {
  readonly [Facade in keyof Runtime]?: Partial<Runtime[Facade]>
}

export const SESSION_ID = 'ses_mine'
export const FOREIGN_SESSION_ID = 'ses_foreign'
export const REQUEST_ID = 'per_mine'
export const FOREIGN_REQUEST_ID = 'per_foreign'
const ARTIFACT_BYTES = new TextEncoder().encode('hello artifact')

const SESSION: Session = {
  id: SESSION_ID,
  slug: 'mine',
  projectId: 'prj',
  directory: '/srv/space',
  title: 'A session',
  version: '0.1.0',
  time: { created: 1, updated: 2 },
}

export const PART: Part = { id: 'prt_1', sessionId: SESSION_ID, messageId: 'msg_1', type: 'text', text: 'hi' }

const MESSAGE: Message = {
  info: {
    role: 'user',
    id: 'msg_1',
    sessionId: SESSION_ID,
    time: { created: 1 },
    agent: 'build',
    model: { providerId: 'svc', modelId: 'offline' },
  },
  parts: [PART],
}

export const ARTIFACT: Artifact = {
  id: 'art_1',
  filename: 'näme "1".txt',
  mediaType: 'text/html',
  size: ARTIFACT_BYTES.byteLength,
  sha256: 'a'.repeat(64),
  created: 1,
  downloadUrl: '/v2/artifacts/art_1/content',
}

const PLUGIN: PluginManifest = {
  id: 'dev.example.notes',
  name: 'Notes',
  version: '1.0.0',
  pluginApi: '2',
  internal: false,
  enabled: true,
  active: true,
  disableable: true,
  capabilities: [],
  requires: [],
  eventNamespaces: [],
}

const PLUGIN_SECRET: PluginSecret = {
  alias: 'token',
  purpose: 'to ask',
  hosts: ['api.example.com'],
  header: 'authorization',
  isSet: true,
  isOutdated: false,
}
const PACKAGE: PackageLifecycleInfo = {
  packageId: PLUGIN.id,
  state: 'active',
  source: 'workspace',
  revision: `sha256:${'0'.repeat(64)}`,
  scope: 'workspace',
  requestedCapabilities: [],
  grantedCapabilities: [],
  leaseActive: true,
  diagnostics: [],
}

const RESOURCE: ManagedResource = {
  id: 'reviewer',
  scope: 'workspace',
  origin: 'managed',
  provenance: '/srv/here/.svc/agents/reviewer.md',
  writable: true,
  managed: true,
  revision: `sha256:${'0'.repeat(64)}`,
  createdAt: 1,
  updatedAt: 2,
  definition: { name: 'reviewer' },
}

const HASH = '0'.repeat(64)
const VERSION: SkillVersion = {
  id: HASH,
  skillId: 'reviewer',
  scope: 'workspace',
  revision: `sha256:${HASH}`,
  createdAt: 1,
  bundle: { content: 'Review.', name: 'reviewer' },
}
const REGISTERED = { id: 'reviewer', name: 'work', revision: `sha256:${HASH}`, createdAt: 1, updatedAt: 2 }
const WORKSPACE: ManagedWorkspace = { ...REGISTERED, root: '/srv/work' }
const REPOSITORY: ManagedRepository = { ...REGISTERED, workspaceId: 'reviewer', path: '/srv/work' }

const AGENT = { name: 'build', mode: 'primary', native: true, hidden: false, permission: {}, options: {} }
const COMMAND = { name: 'init', template: 'Begin.' }
const CONTROL = {
  sessionId: SESSION_ID,
  controllerSubject: 'local',
  actorType: 'human',
  leaseExpiresAt: 61_000,
  revision: 1,
  updated: 1000,
} as const
const CONNECTION = {
  providerId: 'local',
  connectionId: 'conn_1',
  label: 'Work',
  scope: { tenantId: 'local' },
  authType: 'api',
  isDefault: true,
} as const
const QUEUE = { sessionId: SESSION_ID, count: 0, running: false, worker: false, items: [] }

/** A runtime that answers every call with a valid value and remembers what it was asked. */
export function createFakeRuntime(overrides: FacadeOverrides = {}): FakeRuntime {
  const calls: FakeCall[] = []
  function noted<Args extends readonly unknown[], Result>(method: string, answer: (...args: Args) => Result): (...args: Args) => Result {
    return (...args) => {
      calls.push({ method, args })
      return answer(...args)
    }
  }

  const sessions: Sessions = {
    create: noted('sessions.create', async () => SESSION),
    list: noted('sessions.list', () => ({ rawJson: JSON.stringify({ items: [SESSION], cursor: {} }) })),
    get: noted('sessions.get', () => SESSION),
    update: noted('sessions.update', async () => SESSION),
    delete: noted('sessions.delete', async () => true),
    children: noted('sessions.children', () => ({ items: [], cursor: {} })),
    status: noted('sessions.status', () => ({ [SESSION_ID]: { type: 'busy' } })),
    runtime: noted('sessions.runtime', () => ({ rootSessionId: SESSION_ID, revision: 1, branches: [] })),
    todos: noted('sessions.todos', () => [{ content: 'x', status: 'pending', priority: 'high' }]),
    pin: noted('sessions.pin', () => SESSION),
    fork: noted('sessions.fork', async () => SESSION),
    directoryOptions: noted('sessions.directoryOptions', async () => ['/srv/space/src']),
    participants: noted('sessions.participants', () => [{ subject: 'local', actorType: 'human', firstSeenAt: 1, lastSeenAt: 2 }]),
    control: noted('sessions.control', () => null),
    expectControl: () => undefined,
    claimControl: noted('sessions.claimControl', () => CONTROL),
    releaseControl: noted('sessions.releaseControl', () => true),
    submitPrompt: noted('sessions.submitPrompt', async () => undefined),
    runCommand: noted('sessions.runCommand', async () => MESSAGE),
    export: noted('sessions.export', async function* () {
      yield '{"bundles":[]}'
    }),
    import: noted('sessions.import', async () => 'ses_new'),
    runShell: noted('sessions.runShell', async () => MESSAGE),
    abort: noted('sessions.abort', async () => false),
    compact: noted('sessions.compact', async () => undefined),
    wait: noted('sessions.wait', async () => undefined),
    undo: noted('sessions.undo', async () => SESSION),
    redo: noted('sessions.redo', async () => SESSION),
    revert: noted('sessions.revert', async () => SESSION),
    unrevert: noted('sessions.unrevert', async () => SESSION),
    undoTree: noted('sessions.undoTree', async () => ({ sessionID: SESSION_ID, nodes: [] })),
    context: noted('sessions.context', () => ({ rawJson: JSON.stringify([MESSAGE]) })),
    messages: noted('sessions.messages', () => ({ rawJson: JSON.stringify({ items: [MESSAGE], cursor: {} }) })),
    message: noted('sessions.message', () => MESSAGE),
    deleteMessage: noted('sessions.deleteMessage', () => true),
    updatePart: noted('sessions.updatePart', (_session, _message, _part, part) => part),
    deletePart: noted('sessions.deletePart', () => true),
    queue: noted('sessions.queue', () => QUEUE),
    clearQueue: noted('sessions.clearQueue', () => ({ sessionId: SESSION_ID, removed: 0, queue: QUEUE })),
    releaseQueue: noted('sessions.releaseQueue', () => ({ sessionId: SESSION_ID, released: 0, queue: QUEUE })),
    popQueue: noted('sessions.popQueue', () => ({ sessionId: SESSION_ID, removed: 0, queue: QUEUE })),
    owner(id) {
      if (id === SESSION_ID) return { tenantId: 'local', directory: '/srv/space' }
      return id === FOREIGN_SESSION_ID ? { tenantId: 'somebody', directory: '/srv/space' } : undefined
    },
  }
  const interactions: Interactions = {
    permissions: noted('interactions.permissions', () => [
      { id: REQUEST_ID, sessionId: SESSION_ID, messageId: 'msg_1', title: 't', permission: 'bash', patterns: ['*'], always: [] },
    ]),
    questions: noted('interactions.questions', () => [{ id: 'que_1', sessionId: SESSION_ID, messageId: 'msg_1', questions: [] }]),
    permission: noted('interactions.permission', () => ({
      request: { id: REQUEST_ID, sessionId: SESSION_ID, messageId: 'msg_1', title: 't', permission: 'bash', patterns: ['*'], always: [] },
      state: 'pending',
      asked: 1,
    })),
    question: noted('interactions.question', () => ({
      request: { id: 'que_1', sessionId: SESSION_ID, messageId: 'msg_1', questions: [] },
      state: 'pending',
      asked: 1,
    })),
    remembered: noted('interactions.remembered', async () => []),
    explain: noted('interactions.explain', async () => ({ decision: 'ask' as const, agent: 'build', directory: '/srv/space', needs: [] })),
    forget: noted('interactions.forget', async () => true),
    replyPermission: noted('interactions.replyPermission', () => true),
    replyQuestion: noted('interactions.replyQuestion', () => true),
    rejectQuestion: noted('interactions.rejectQuestion', () => true),
    owner: (id) => (id === REQUEST_ID ? SESSION_ID : id === FOREIGN_REQUEST_ID ? FOREIGN_SESSION_ID : undefined),
  }
  const events: Events = {
    subscribe: noted('events.subscribe', () => ({ close: noted('subscription.close', () => undefined) })),
    subscribeCatalog: noted('events.subscribeCatalog', () => ({ close: noted('subscription.close', () => undefined) })),
    subscribeActivity: noted('events.subscribeActivity', () => ({ close: noted('subscription.close', () => undefined) })),
    activity: noted('events.activity', () => [{ rootSessionId: SESSION_ID, executionId: 'msg_1', revision: 1, finished: true }]),
  }
  const view = { record: AGENT, rules: [], narrowing: [] }
  const resources: Resources = {
    agents: noted('resources.agents', async () => [AGENT]),
    agent: noted('resources.agent', async () => view),
    defaultAgent: noted('resources.defaultAgent', async () => view),
    commands: noted('resources.commands', async () => [COMMAND]),
    command: noted('resources.command', async () => ({ ...COMMAND, isOwn: true })),
    contributors: noted('resources.contributors', async () => new Map()),
    skills: noted('resources.skills', async () => [{ name: 'review' }]),
    instructions: noted('resources.instructions', async () => []),
  }
  const connections: Connections = {
    list: noted('connections.list', async () => [CONNECTION]),
    create: noted('connections.create', async () => CONNECTION),
    rename: noted('connections.rename', async () => CONNECTION),
    remove: noted('connections.remove', async () => true),
    setDefault: noted('connections.setDefault', async () => CONNECTION),
    has: noted('connections.has', async () => true),
    set: noted('connections.set', async () => true),
    unset: noted('connections.unset', async () => true),
  }
  const signIns: SignIns = {
    methods: noted('signIns.methods', async () => ({ openai: [{ type: 'api' as const, label: 'API key' }] })),
    authorize: noted('signIns.authorize', async () => ({
      url: 'https://vendor.example/authorize',
      method: 'auto' as const,
      instructions: 'Open the address.',
      attemptId: 'attempt_1',
      expiresAt: 1,
    })),
    callback: noted('signIns.callback', async () => true),
    usage: noted('signIns.usage', async () => ({ accounts: [] })),
  }
  const configs: Configs = {
    load: noted('configs.load', async () => ({ model: 'svc/offline' })),
    show: noted('configs.show', async () => ({ model: 'svc/offline' })),
    update: noted('configs.update', async () => ({ model: 'svc/offline' })),
    validate: noted('configs.validate', async () => ({ ok: true, diagnostics: [] })),
    brought: noted('configs.brought', async () => ({})),
    definer: noted('configs.definer', async () => undefined),
    switchEntry: noted('configs.switchEntry', async () => undefined),
  }
  const providers: Providers = {
    list: noted('providers.list', async () => ({ all: [], default: {}, connected: [] })),
    check: noted('providers.check', async () => undefined),
    hasUsable: noted('providers.hasUsable', async () => false),
    connectable: noted('providers.connectable', async () => []),
    endpoint: noted('providers.endpoint', async () => 'http://127.0.0.1:1/v1'),
    configured: noted('providers.configured', async () => ({ providers: [], default: {} })),
    defaultModel: noted('providers.defaultModel', async () => ({ providerId: 'svc', id: 'offline' })),
    smallModel: noted('providers.smallModel', async () => undefined),
    resolve: noted('providers.resolve', async () => {
      throw new SvcError('request.invalid', 'The fake runtime resolves no model.')
    }),
  }
  const artifacts: Artifacts = {
    list: noted('artifacts.list', () => [ARTIFACT]),
    create: noted('artifacts.create', async (_caller, upload) => {
      let size = 0
      for await (const chunk of upload.bytes) size += chunk.byteLength
      return { ...ARTIFACT, mediaType: upload.mediaType, filename: upload.filename ?? 'attachment', size }
    }),
    get: noted('artifacts.get', () => ARTIFACT),
    content: noted('artifacts.content', () => ({ artifact: ARTIFACT, bytes: chunksOf(ARTIFACT_BYTES) })),
    delete: noted('artifacts.delete', async () => undefined),
  }
  const plugins: Plugins = {
    list: noted('plugins.list', async () => [PLUGIN]),
    lifecycle: noted('plugins.lifecycle', async () => [PACKAGE]),
    manifest: noted('plugins.manifest', async () => PLUGIN),
    settings: noted('plugins.settings', async () => ({ packageId: 'dev.example.tool', secrets: [PLUGIN_SECRET] })),
    giveSecret: noted('plugins.giveSecret', async () => PLUGIN_SECRET),
    takeSecret: noted('plugins.takeSecret', async () => true),
    call: noted('plugins.call', async (operationId) => {
      if (operationId in OPERATION_ANSWERS) return OPERATION_ANSWERS[operationId]
      throw new SvcError('feature.not_implemented')
    }),
    present: noted('plugins.present', () => async () => {
      throw new SvcError('request.forbidden')
    }),
    match: noted('plugins.match', async () => {
      throw new SvcError('resource.not_found', 'The fake runtime offers no contributed route.')
    }),
  }
  const system: System = {
    health: async () => ({
      healthy: true,
      version: '0.1.0',
      providerCredentialStore: 'file',
      tenantResolver: 'local',
      deployment: 'local',
      executionAvailable: true,
      artifactStore: 'local',
      artifactStoreShared: false,
      hostedControlPlane: false,
    }),
    meta: () => ({
      apiVersion: '2.0.0',
      serverVersion: '0.1.0',
      pluginApiVersion: '1.0.0',
      eventSchemaVersion: '1.0.0',
      partSchemaVersion: '1.0.0',
      generation: 1,
    }),
    hostedExecution: async () => 'disabled' as const,
    runtime: () => ({ deployment: 'local', executionAvailable: true }),
    identity: async () => ({ configuredName: null, systemName: 'ada' }),
    capabilities: noted('system.capabilities', async () => [
      { id: 'svc.sessions', version: '0.1.0', enabled: true, disableable: false, source: 'core' },
    ]),
    directories: noted('system.directories', async () => ({
      path: '/srv',
      parent: '/',
      entries: [{ name: 'space', path: '/srv/space' }],
    })),
    tools: noted('system.tools', async () => [{ id: 'read', description: 'Reads.', parameters: {} }]),
    audit: noted('system.audit', () => [{ id: 'aud_1', tenantId: 'local', method: 'GET', path: '/v2/meta', status: 200, created: 1 }]),
    recordAudit: noted('system.recordAudit', () => undefined),
    defaults: noted('system.defaults', async () => ({ defaultAgent: 'build', model: null, variant: null })),
    completeDirectory: async () => [],
    async canonicalDirectory(path) {
      if (path.includes('missing')) throw new SvcError('request.invalid_directory')
      return path.replace(/\/+$/, '')
    },
    workingDirectory: '/srv/here',
    installationDirectory: '/home/ada/.config/svc',
  }
  const markdown = (kind: string): ManagedMarkdown => ({
    list: noted(`management.${kind}.list`, async () => [RESOURCE]),
    get: noted(`management.${kind}.get`, async () => RESOURCE),
    create: noted(`management.${kind}.create`, async () => RESOURCE),
    update: noted(`management.${kind}.update`, async () => RESOURCE),
    delete: noted(`management.${kind}.delete`, async () => undefined),
  })
  const management: Management = {
    requireOn: () => undefined,
    skills: {
      ...markdown('skills'),
      versions: noted('management.skills.versions', async () => [VERSION]),
      version: noted('management.skills.version', async () => VERSION),
      restore: noted('management.skills.restore', async () => RESOURCE),
    },
    workspaces: {
      list: noted('management.workspaces.list', async () => [WORKSPACE]),
      get: noted('management.workspaces.get', async () => WORKSPACE),
      create: noted('management.workspaces.create', async () => WORKSPACE),
      update: noted('management.workspaces.update', async () => WORKSPACE),
      delete: noted('management.workspaces.delete', async () => undefined),
    },
    repositories: {
      list: noted('management.repositories.list', async () => [REPOSITORY]),
      get: noted('management.repositories.get', async () => REPOSITORY),
      create: noted('management.repositories.create', async () => REPOSITORY),
      update: noted('management.repositories.update', async () => REPOSITORY),
      delete: noted('management.repositories.delete', async () => undefined),
    },
    place: noted('management.place', (directory, { asked, body }) => ({ scope: body ?? asked ?? 'workspace', directory })),
    agents: markdown('agents'),
    commands: markdown('commands'),
  }
  const inspector: Inspector = {
    tree: noted('inspector.tree', () => ({ at: 1, sequence: 0, actors: [], plugins: [], configuration: '/config' })),
    machines: noted('inspector.machines', () => []),
    lines: noted('inspector.lines', () => ({ lines: [] })),
    trace: noted('inspector.trace', () => ({
      format: 'svc-inspector-trace',
      version: 1,
      createdAt: 1,
      serverVersion: '0.1.0',
      machines: [],
      actors: [],
      plugins: [],
      records: [],
      dropped: 0,
    })),
    subscribe: noted('inspector.subscribe', () => ({ close: () => undefined })),
  }
  const metrics: Metrics = { read: noted('metrics.read', async () => '# EOF\n'), answered: () => undefined }
  return {
    calls,
    sessions: { ...sessions, ...overrides.sessions },
    interactions: { ...interactions, ...overrides.interactions },
    events: { ...events, ...overrides.events },
    resources: { ...resources, ...overrides.resources },
    configs: { ...configs, ...overrides.configs },
    providers: { ...providers, ...overrides.providers },
    connections: { ...connections, ...overrides.connections },
    signIns: { ...signIns, ...overrides.signIns },
    artifacts: { ...artifacts, ...overrides.artifacts },
    system: { ...system, ...overrides.system },
    plugins: { ...plugins, ...overrides.plugins },
    inspector: { ...inspector, ...overrides.inspector },
    metrics: { ...metrics, ...overrides.metrics },
    traces: { arrived: () => undefined, ...overrides.traces },
    management: { ...management, ...overrides.management },
  }
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 5)
  yield bytes.subarray(5)
}
