/** Every plugin with what is known of it, for the inspector: nothing is looked up anew, nothing waits (plugin-protocol §3.1). */
import type { InspectedPlugin } from '../../../protocol/system/inspector.js'
import { intersectCapabilities } from '../../../machines/plugin/capability.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import { statesOf } from '../../inspector/actors.js'
import type { Generations, RunningGeneration } from '../generation/generation.actor.js'
import type { Contributions } from '../../../ports/plugin.js'
import type { Leases } from '../brokers/leases.js'
import { lifecycleInfo } from '../package/lifecycle.js'
import type { PackageSnapshot, PackageSupervisor } from '../package/package-supervisor.js'
import { compare } from '../../../kernel/sort.js'
import { plainSentence } from '../../../protocol/text/plain-sentence.js'
import { type PluginRecord, type PluginRecords, problemsOf } from '../package/plugin-records.js'
import { offersOf } from './plugin-offers.js'
import { withoutEffect } from './without-effect.js'

export interface InspectionDeps {
  readonly records: PluginRecords
  readonly supervisor: Pick<PackageSupervisor, 'snapshot'>
  readonly generations: Pick<Generations, 'running'>
  /** Capabilities for which a broker is installed. */
  readonly brokered: ReadonlySet<HostCapability>
  /** What a program of the configuration may ask for. */
  readonly grants: ReadonlySet<HostCapability>
  readonly quotas: Leases['quotas']
}

/** Every plugin as it is now, and those that are given up. */
export function createInspection(deps: InspectionDeps) {
  return { inspected: () => inspectPlugins(deps), givenUp: () => givenUp(deps.records, deps.supervisor) }
}

function inspectPlugins({ records, supervisor, generations, ...known }: InspectionDeps): InspectedPlugin[] {
  return [...records.entries()].flatMap(([key, record]) => {
    const snapshot = supervisor.snapshot(key)
    return snapshot === undefined ? [] : [describe(key, { record, snapshot, ...known }, (number) => generations.running(key, number))]
  })
}

/** Packages of the installation that are not started any more. */
function givenUp(records: PluginRecords, supervisor: Pick<PackageSupervisor, 'snapshot'>): readonly string[] {
  const ids = [...records.entries()].flatMap(([key, { origin }]) => {
    if (origin.kind !== 'package' || origin.sighting.found.source !== 'user') return []
    const snapshot = supervisor.snapshot(key)
    return snapshot !== undefined && packageStateOf(snapshot) === 'failed' ? [origin.sighting.found.id] : []
  })
  return [...new Set(ids)].toSorted(compare)
}

function describe(key: string, subject: Subject, runningOf: (number: number) => RunningGeneration | undefined): InspectedPlugin {
  const { record, snapshot } = subject
  const { context, children } = snapshot
  const { serving, candidate, reason, strikes, assessment, alive } = context
  const contributions = serving === undefined ? undefined : runningOf(serving.number)?.instance.contributions
  const identity = identityOf(subject, contributions)
  const quotas = subject.quotas(identity.pluginId, identity.grantedCapabilities)
  return {
    key,
    ...identity,
    ...(contributions !== undefined && offersOf(contributions)),
    ...(quotas.length > 0 && { quotas: quotas.map((quota) => ({ ...quota })) }),
    calls: record.calls.map((call) => ({ ...call })),
    state: packageStateOf(snapshot) ?? statesOf(snapshot).join(', '),
    ...(assessment !== undefined && { verdict: assessment.verdict }),
    ...(serving !== undefined && { serving: serving.number }),
    ...(candidate !== undefined && { candidate: candidate.number }),
    generations: alive.map((number) => {
      const name = `generation:${number}`
      const running = runningOf(number)
      const traffic = running?.instance.traffic
      const brokers = (running?.instance.leases ?? []).map((lease) => ({ ...lease }))
      const child = children[name]?.getSnapshot()
      return {
        number,
        actorId: `package:${key}/${name}`,
        state: [...statesOf(child)],
        ...(child !== undefined && 'context' in child && { revision: child.context.revision }),
        ...(running !== undefined && { readyAt: running.readyAt, leases: running.leases }),
        ...(running !== undefined && traffic !== undefined && { frames: { ...traffic, dropped: running.instance.droppedFrames } }),
        ...(brokers.length > 0 && { brokers }),
      }
    }),
    strikes,
    droppedFrames: record.droppedFrames,
    ...(reason !== undefined && { reason: plainSentence(reason) }),
  }
}

interface Subject extends Pick<InspectionDeps, 'brokered' | 'grants' | 'quotas'> {
  readonly record: PluginRecord
  readonly snapshot: PackageSnapshot
}

type Identity = Pick<InspectedPlugin, 'pluginId' | 'origin' | 'requestedCapabilities' | 'grantedCapabilities' | 'diagnostics'> &
  Partial<InspectedPlugin> & { readonly grantedCapabilities: readonly HostCapability[] }

function identityOf({ record, snapshot, brokered, grants }: Subject, contributions: Contributions | undefined): Identity {
  const { origin, droppedFrames } = record
  const none = { requestedCapabilities: [], grantedCapabilities: [] }
  const idle = origin.kind === 'package' ? [] : withoutEffect(undefined, 'workspace', contributions)
  const problems = [...idle, ...problemsOf(record)]
  switch (origin.kind) {
    case 'native':
      return { ...none, pluginId: origin.plugin.id, origin: 'native', diagnostics: problems }
    case 'process':
      return {
        pluginId: origin.entry.id,
        origin: 'process',
        workspace: origin.directory,
        requestedCapabilities: [...origin.entry.capabilities],
        grantedCapabilities: origin.entry.capabilities.filter((name) => grants.has(name)),
        diagnostics: problems,
      }
    case 'hook-command':
      return { ...none, pluginId: origin.command.id, origin: 'hook-command', workspace: origin.directory, diagnostics: problems }
    case 'package': {
      const { found, place, granted, isNative, entry, assessment } = origin.sighting
      const target = found.manifest?.agent ?? undefined
      const info = lifecycleInfo({ found, place, granted, isNative, droppedFrames }, snapshot)
      const retained = entry.trust.find(({ revision }) => revision === info.retainedRevision)
      return {
        pluginId: found.id,
        origin: 'package',
        source: info.source,
        scope: info.scope,
        revision: info.revision,
        ...(place.workspaceId !== undefined && { workspace: place.workspaceId }),
        ...(info.retainedRevision !== undefined && { retainedRevision: info.retainedRevision }),
        ...(info.digest !== undefined && { digest: info.digest }),
        ...(info.native !== undefined && { native: { approved: info.native.approved, words: info.native.words } }),
        ...(info.scopeId !== undefined && { scopeId: info.scopeId }),
        ...(target !== undefined && {
          runtime: target.runtime,
          unprovidedCapabilities: [
            ...intersectCapabilities({
              declared: target.capabilities,
              trusted: undefined,
              scope: place.scope,
              runtime: target.runtime,
              brokered,
            }).unbrokered,
          ],
        }),
        requestedCapabilities: info.requestedCapabilities,
        grantedCapabilities: info.grantedCapabilities,
        ...(info.requests !== undefined && { requests: info.requests }),
        ...(retained !== undefined && info.retainedRevision !== undefined && { retainedCapabilities: retained.capabilities }),
        hasEarlier: assessment.approved.some((revision) => revision !== found.revision),
        diagnostics: [...info.diagnostics, ...withoutEffect(found.manifest, place.scope, contributions), ...problems],
      }
    }
  }
}
