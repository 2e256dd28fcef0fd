/** From approved content in our own store to the process that runs it (plugin-protocol §4.1, §9.4; threat-model C5). */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { authorize, intersectCapabilities, noBroker, type PackagePlace } from '../../../machines/plugin/capability.js'
import { SvcError } from '../../../protocol/errors.js'
import { isToolsId } from '../../../protocol/plugin/tool-files.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type AgentTarget, type HostCapability, MANIFEST_FILE } from '../../../protocol/plugin/plugin.js'
import type { Effects } from '../../../ports/effects.js'
import type { NativeCode } from '../../../ports/native-code.js'
import type { PackageEntry } from '../../resource/config/entry-options.js'
import type { StartPlan } from '../generation/generation.actor.js'
import type { InstancePlace, StartInstance } from '../generation/instance.js'
import { luaCommand } from '../process/lua.js'
import { insideOf } from './native-part.js'
import type { PackageSource } from './package-files.js'
import { parseManifest } from './package-manifest.js'
import type { PackageStore } from './package-store.js'
import { type ProcessSpec, pluginEnvironment } from '../process/process-spec.js'
import { packagePolicy, type Sandbox } from '../entry/sandbox.js'
import type { Reach } from '../../../ports/view.js'
import { toolsManifest } from './tool-directory.js'

export interface PlanDeps {
  readonly effects: Pick<Effects, 'files' | 'processes' | 'childEnv' | 'env' | 'hasher' | 'log'>
  readonly store: PackageStore
  readonly sandbox: Sandbox
  readonly brokered: ReadonlySet<HostCapability>
  /** Absolute paths of Node and of the programs it runs packages with. */
  readonly node: string
  readonly luaSandbox: string
  /** Runs directories of tools. */
  readonly toolbox: string
  readonly native: NativeCode
  serverUrl(): string | undefined
  startProcess(spec: ProcessSpec): StartInstance
}

export interface PlanSubject {
  readonly packageId: string
  /** Where its author has it: what runs is a copy. */
  readonly folder: string
  /** Of what was found: preferred among contents that share a revision. */
  readonly digest: string
  readonly source: PackageSource
  readonly entry: PackageEntry
  readonly place: PackagePlace
}

/** How a revision is started; rejects with `plugin.invalid` or `request.unprocessable` and a sentence when it cannot be. */
export async function planPackage(deps: PlanDeps, subject: PlanSubject, revision: string): Promise<StartPlan> {
  const { packageId, folder, entry, place } = subject
  const { root, digest, manifest, target, trust, isNative } = await approvedCopy(deps, subject, revision)
  const { granted, unbrokered } = intersectCapabilities({
    declared: target.capabilities,
    trusted: trust.capabilities,
    scope: place.scope,
    runtime: target.runtime,
    brokered: deps.brokered,
  })
  if (unbrokered.length > 0) throw new SvcError('request.unprocessable', noBroker(unbrokered, place.scope), { packageId, revision })
  const spec: ProcessSpec = {
    pluginId: packageId,
    place: instancePlace(place),
    revision,
    config: entry.config,
    timeoutMs: entry.timeoutMs,
    directory: root,
    folder,
    env: pluginEnvironment(deps.effects, { pluginId: packageId, directory: root, serverUrl: deps.serverUrl() }),
    capabilities: new Set(granted),
    declared: { network: target.network, settings: target.settings, secrets: target.secrets },
    ...(entry.hosts !== undefined && { listedHosts: entry.hosts }),
    eventNamespaces: target.eventNamespaces,
    ...(isNative
      ? await insideOf(deps, { packageId, entry, revision, digest, root, entrypoint: target.native?.entrypoint ?? '' })
      : await commandOf(deps, packageId, target, root, { network: granted.includes('network') && target.network === undefined, entry })),
  }
  return {
    pluginId: packageId,
    name: manifest.name === '' ? packageId : manifest.name,
    version: manifest.version,
    internal: false,
    reach: reachOf(place),
    isOfWorkspace: subject.source === 'workspace',
    dependencies: manifest.dependencies,
    start: deps.startProcess(spec),
  }
}

/** The copy that one of the approvals means. */
async function approvedCopy({ effects, store }: PlanDeps, subject: PlanSubject, revision: string) {
  const { packageId, source, entry, place } = subject
  let reason = `no copy of ${revision} is kept`
  for (const digest of digestsOf(subject, revision)) {
    const root = await store.path({ revision, digest })
    if (root === undefined) continue
    const manifest = isToolsId(packageId)
      ? toolsManifest(packageId)
      : parseManifest(await effects.files.read(join(root, MANIFEST_FILE), LIMITS.plugins.manifestBytes))
    const target = manifest.agent
    if (target === null) throw new SvcError('plugin.invalid', 'the package has no agent part', { packageId })
    const authorization = authorize({ packageId, revision, digest, source, target, place }, entry.trust)
    if (authorization.ok) return { root, digest, manifest, target, ...authorization }
    reason = authorization.reason
  }
  throw new SvcError('request.forbidden', reason, { packageId, revision })
}

function digestsOf({ digest: found, entry }: PlanSubject, revision: string): readonly string[] {
  const approved = entry.trust.flatMap(({ revision: of, digest }) => (of === revision && digest !== undefined ? [digest] : []))
  return [...new Set(approved)].toSorted((a, b) => Number(b === found) - Number(a === found))
}

type Command = Pick<ProcessSpec, 'program' | 'args' | 'watch'>

/** The line that runs content in `root`; rejects with a sentence when there is none here. */
export async function commandOf(
  deps: Pick<PlanDeps, 'effects' | 'sandbox' | 'node' | 'luaSandbox' | 'toolbox'>,
  packageId: string,
  target: AgentTarget,
  root: string,
  { network, entry }: { network: boolean; entry: Pick<PackageEntry, 'sandbox'> },
): Promise<Command> {
  const { node, luaSandbox, toolbox } = deps
  const isOfTools = isToolsId(packageId)
  const command: Command = isOfTools
    ? { program: node, args: [toolbox, root] }
    : target.runtime === 'lua'
      ? luaCommand({ node, sandbox: luaSandbox, manifest: join(root, MANIFEST_FILE) })
      : await processCommand(deps, target, root)
  const reads = isOfTools ? [dirname(toolbox)] : target.runtime === 'lua' ? [dirname(luaSandbox)] : [] // both load files beside them
  const policy = packagePolicy(packageId, entry.sandbox, deps.effects.env)
  const wrapped = await deps.sandbox.wrap(policy, { program: command.program, args: command.args, cwd: root, network, reads })
  if ('unavailable' in wrapped) throw new SvcError('request.unprocessable', wrapped.unavailable)
  return { ...command, ...wrapped }
}

async function processCommand({ effects }: Pick<PlanDeps, 'effects'>, target: AgentTarget, root: string): Promise<Command> {
  const [name, ...args] = target.command
  if (name === undefined) return { program: join(root, target.entrypoint), args: [] }
  if (isAbsolute(name)) return { program: name, args }
  if (name.includes('/')) return { program: resolve(root, name), args }
  const program = await effects.processes.find(name)
  if (program === undefined)
    throw new SvcError('request.unprocessable', `the program "${name}" is not on the search path`, { program: name })
  return { program, args }
}

function instancePlace({ scope, workspaceId, scopeId }: PackagePlace): InstancePlace {
  return { scope, ...(workspaceId !== undefined && { workspace: workspaceId }), ...(scopeId !== undefined && { scopeId }) }
}

function reachOf({ scope, workspaceId = '', scopeId = '' }: PackagePlace): Reach {
  if (scope === 'workspace') return { type: 'workspace', directory: workspaceId }
  if (scope === 'session') return { type: 'session', directory: workspaceId, sessionId: scopeId }
  return { type: 'everywhere' }
}
