/**
 * `svc plugin trust`: shows exactly what would be approved, asks, and writes the approval into the configuration of the
 * installation (plugin-protocol §2.1; service.md, Authentication 11).
 *
 * I1 What is written names the content that was shown: a package that changes meanwhile is not approved.
 * I2 Nothing is written without a yes of the person at the terminal or `--yes`.
 * I3 Nothing is approved that no broker provides here.
 * I4 Where a server runs here it ends when that serves what was approved, or has not started it: what is called next is what was approved.
 */
import { createSandbox, packagePolicy } from '../../../actors/plugin/entry/sandbox.js'
import type { FoundPackage } from '../../../actors/plugin/package/package-files.js'
import { intersectCapabilities, NO_BROKER_ACTION, noBroker } from '../../../machines/plugin/capability.js'
import { SvcError } from '../../../protocol/errors.js'
import { BROKERED } from '../../../protocol/plugin/broker-operations.js'
import { NATIVE_API, NATIVE_WORDS } from '../../../protocol/plugin/native-api.js'
import { HostCapability, type PackageLifecycleInfo, type TrustRecord } from '../../../protocol/plugin/plugin.js'
import type { TrustOptions } from './plugin-arguments.js'
import { applicantOf, openPluginPlace, pinnedApprovalOf, type PluginPlace, type ReadPackage, readPackage } from './plugin-place.js'
import { capabilityWords } from '../../../protocol/plugin/capability-words.js'
import { columns, insideWords, rightsWords, runtimeWords, titleOf } from './plugin-words.js'
import { needsOf } from './plugin-needs.js'
import { localServer } from './plugin-server.js'
import { untilTakenUp } from './plugin-taken-up.js'
import { stateWords, troubleOf } from './state-words.js'
import { connectTo } from '../../connection.js'
import { failureText } from '../../failure.js'
import { createTerminal } from '../../terminal/terminal.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'

const NATIVE_HINT = 'it has a part that would run inside of the server, and may do all that svc may (--native)'

/** Answers 0 when the approval is written, 1 when it was declined. */
export async function trustPlugin(options: TrustOptions): Promise<number> {
  const place = await openPluginPlace(options.directory)
  const read = await readPackage(place, choosePackage(place, options))
  const record = recordFor(place, read, options)
  const shown = description(place, read, record, await rightsOf(place, read))
  writeError(columns(shown.map((row) => row.map(printable))))
  if (!options.yes && !(await isConfirmed())) {
    writeError('svc: not approved\n')
    return 1
  }
  const wasApproved = pinnedApprovalOf(place, read, options.scopeId).ok
  const trust = [...otherRecords(place, record), record]
  const entries = await place.configure({ plugins: { [read.found.id]: { options: { trust } } } })
  const approval = pinnedApprovalOf({ ...place, entries }, read, options.scopeId)
  if (!approval.ok) {
    throw new SvcError(
      'resource.conflict',
      `the approval was written, but another configuration file of the installation overrides it: ${approval.reason}`,
    )
  }
  const { id } = read.found
  const message = `approved ${id} ${read.revision}`
  if (!options.json) writeOut(`${message}\n`)
  const lives = entries.isDisabled(id) ? undefined : await served(place, read)
  if (options.json) writeOut(`${jsonText({ id, approved: record, ...(lives !== undefined && { state: lives.state }) }, 2)}\n`)
  if (lives !== undefined) tellLives(lives)
  const needs = await needsOf({ ...place, entries }, read)
  for (const { what, remedy } of needs) writeError(`svc: ${id} still needs ${printable(`${what} -> ${remedy}`)}\n`)
  if (entries.isDisabled(id)) writeError(`svc: it is switched off; switch it on with: svc plugin enable ${id}\n`)
  else if (wasApproved)
    writeError(`svc: it was approved before; where it failed, this starts it anew: svc plugin disable ${id} && svc plugin enable ${id}\n`)
  return 0
}

/** How the server that runs here has taken it up (I4); undefined where none runs, where it is for a session, and where that cannot be asked. */
async function served(
  { workspace }: PluginPlace,
  { found: { id }, target, revision }: ReadPackage,
): Promise<PackageLifecycleInfo | undefined> {
  const url = localServer()
  if (url === undefined || target.scope === 'session') return undefined
  try {
    const { client } = connectTo(url)
    const tell = (now: string) => writeError(`${id} ${now}\n`, 'dim')
    const lives = await untilTakenUp(client, { id, workspace, revision }, tell)
    if (lives === undefined) writeError(`svc: ${url} has not taken it up yet; svc plugin doctor ${id}\n`)
    return lives
  } catch (error) {
    writeError(`svc: ${url} could not be asked whether it serves that: ${failureText(error).split('\n')[0] ?? ''}\n`)
    return undefined
  }
}

function tellLives(lives: PackageLifecycleInfo): void {
  const trouble = troubleOf(lives)
  if (trouble === undefined) writeError(`${lives.packageId} ${stateWords(lives)}\n`, 'dim')
  else writeError(`svc: ${lives.packageId} ${printable(trouble)}\n`, 'red')
}

/** Approves what the package asks for, as its author does at work on it; answers the revision. Nothing is shown and nobody asked. */
export async function approvePlugin(id: string, directory: string): Promise<string> {
  const place = await openPluginPlace(directory)
  const options = { id, directory, capabilities: undefined, source: undefined, scopeId: undefined, native: false, yes: true, json: false }
  const read = await readPackage(place, choosePackage(place, options))
  if (pinnedApprovalOf(place, read).ok) return read.revision
  const record = recordFor(place, read, options)
  await place.configure({ plugins: { [id]: { options: { trust: [...otherRecords(place, record), record] } } } })
  return read.revision
}

/** The package that is meant; throws when there is none, or more than one. */
export function choosePackage(place: PluginPlace, { id, source }: Pick<TrustOptions, 'id' | 'source'>): FoundPackage {
  const all = place.packages.filter((found) => found.id === id && (source === undefined || found.source === source))
  const [found, ...others] = all
  if (found === undefined) {
    throw new SvcError('resource.not_found', `there is no package ${id} for ${place.workspace}; "svc plugin list" shows what there is`)
  }
  if (others.length > 0) {
    const places = all.map(({ root, source }) => `${root} (--source ${source})`).join(', ')
    throw new SvcError('resource.conflict', `there is more than one package ${id}: ${places}`)
  }
  return found
}

function recordFor(place: PluginPlace, read: ReadPackage, options: TrustOptions): TrustRecord {
  const { scope, capabilities: requested, runtime } = read.target
  const { unbrokered } = intersectCapabilities({ declared: requested, trusted: undefined, scope, runtime, brokered: BROKERED })
  if (unbrokered.length > 0) {
    throw new SvcError('request.unprocessable', `${read.found.id} cannot be approved: ${noBroker(unbrokered, scope)}; ${NO_BROKER_ACTION}`)
  }
  const capabilities = options.capabilities === undefined ? [...new Set(requested)] : options.capabilities.map(readCapability)
  const missing = requested.filter((capability) => !capabilities.includes(capability))
  if (missing.length > 0) {
    throw new SvcError(
      'request.unprocessable',
      `${read.found.id} runs only with all it asks for; --capabilities leaves out ${missing.join(', ')}`,
    )
  }
  if (options.native) refuseWithout(read)
  if (scope === 'session' && options.scopeId === undefined) {
    throw new SvcError('request.unprocessable', `${read.found.id} runs for one session; name it with --session <id>`)
  }
  const { workspaceId, scopeId } = applicantOf(place, read, options.scopeId).place
  return {
    workspaceId: workspaceId ?? '',
    packageId: read.found.id,
    revision: read.revision,
    digest: read.digest,
    scope,
    ...(scopeId === undefined ? {} : { scopeId }),
    capabilities,
    executableApproved: runtime === 'process' && !options.native,
    luaApproved: runtime === 'lua' && !options.native,
    nativeApproved: options.native,
  }
}

/** Throws for a package whose native part is not there, or is not for this server. */
function refuseWithout({ found, target: { native } }: ReadPackage): void {
  if (native === undefined) throw new SvcError('request.unprocessable', `${found.id} has no native part ("agent.native" in its manifest)`)
  if (native.apiVersion !== NATIVE_API) {
    const message = `the native part of ${found.id} is for the native API ${native.apiVersion}; this server has ${NATIVE_API}`
    throw new SvcError('request.unprocessable', message)
  }
}

function readCapability(name: string): HostCapability {
  const parsed = HostCapability.safeParse(name)
  if (parsed.success) return parsed.data
  throw new SvcError('request.invalid', `"${name}" is not a capability; they are ${HostCapability.options.join(', ')}`)
}

/** Approvals of other workspaces, users and sessions stay as they are. */
function otherRecords(place: PluginPlace, record: TrustRecord): TrustRecord[] {
  const isSamePlace = (other: TrustRecord) =>
    other.workspaceId === record.workspaceId && (other.scope ?? record.scope) === record.scope && other.scopeId === record.scopeId
  return place.entries.package(record.packageId).trust.filter((other) => !isSamePlace(other))
}

/** As the server here will start it. */
async function rightsOf({ effects, entries }: PluginPlace, { found, target }: ReadPackage): Promise<string> {
  const policy = packagePolicy(found.id, entries.package(found.id).sandbox, effects.env)
  const network = target.capabilities.includes('network') && target.network === undefined // named hosts are reached through the host alone
  const program = { program: process.execPath, args: [], cwd: found.root, network }
  const wrapped = await createSandbox(effects).wrap(policy, program)
  if ('unavailable' in wrapped) return `which cannot be: ${wrapped.unavailable}`
  return rightsWords({ isContained: wrapped.program !== program.program, network, why: wrapped.uncontained })
}

function description(place: PluginPlace, read: ReadPackage, record: TrustRecord, rights: string): string[][] {
  const { target, found } = read
  const may = record.capabilities.map((capability) => `${capability}: ${capabilityWords(capability, target)}`)
  const [first = 'ask nothing of the host', ...rest] = may
  return [
    ['package', titleOf(found.id, read)],
    ['from', `${found.root} (${found.source})`],
    ['content', read.revision],
    ['', `${read.files === 1 ? '1 file' : `${read.files} files`}, ${read.bytes} bytes`],
    ['runs', record.nativeApproved ? insideWords(target) : runtimeWords(target, rights)],
    ['scope', scopeWords(record)],
    ...(record.nativeApproved
      ? [
          ['may', NATIVE_WORDS],
          ['', first],
        ]
      : [['may', first]]),
    ...rest.map((line) => ['', line]),
    ...(target.native !== undefined && !record.nativeApproved ? [['native', `not approved: ${NATIVE_HINT}`]] : []),
    ...(place.entries.isDisabled(found.id) ? [['warning', 'it is switched off']] : []),
  ]
}

function scopeWords({ scope, workspaceId, scopeId }: TrustRecord): string {
  if (scope === 'session') return `session ${scopeId} in ${workspaceId}`
  if (scope === 'workspace') return `workspace ${workspaceId}`
  return scope === 'user' ? `user ${scopeId}, in every workspace` : 'every workspace and user'
}

async function isConfirmed(): Promise<boolean> {
  const { ask } = createTerminal()
  if (ask === undefined) throw new SvcError('request.forbidden', 'nobody is here to approve it; look at the above and add --yes')
  const answer = await ask('Approve exactly this? [y/N] ', new AbortController().signal)
  return ['y', 'yes'].includes(answer.toLowerCase())
}
