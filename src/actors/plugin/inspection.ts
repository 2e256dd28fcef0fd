/** Every plugin with what is known of it, for the inspector: nothing is looked up anew, nothing waits (plugin-protocol §3.1). */
import type { InspectedPlugin } from '../../protocol/system/inspector.js'
import { packageStateOf } from '../../machines/plugin/package-state.js'
import { statesOf } from '../inspector/actors.js'
import type { Generations } from './package/generation.actor.js'
import type { PluginInstance } from './instance.js'
import { lifecycleInfo } from './package/lifecycle.js'
import type { PackageSnapshot, PackageSupervisor } from './package/package-supervisor.js'
import { plainSentence } from './plain-sentence.js'
import { type PluginRecord, type PluginRecords, problemsOf } from './plugin-records.js'

export interface InspectionDeps {
  readonly records: PluginRecords
  readonly supervisor: Pick<PackageSupervisor, 'snapshot'>
  readonly generations: Pick<Generations, 'instance'>
}

export function inspectPlugins({ records, supervisor, generations }: InspectionDeps): InspectedPlugin[] {
  return [...records.entries()].flatMap(([key, record]) => {
    const snapshot = supervisor.snapshot(key)
    return snapshot === undefined ? [] : [describe(key, record, snapshot, (number) => generations.instance(key, number))]
  })
}

function describe(
  key: string,
  record: PluginRecord,
  snapshot: PackageSnapshot,
  instanceOf: (number: number) => PluginInstance | undefined,
): InspectedPlugin {
  const { context, children } = snapshot
  const { serving, candidate, reason, strikes, assessment, alive } = context
  return {
    key,
    ...identityOf(record, snapshot),
    state: packageStateOf(snapshot) ?? statesOf(snapshot).join(', '),
    ...(assessment !== undefined && { verdict: assessment.verdict }),
    ...(serving !== undefined && { serving: serving.number }),
    ...(candidate !== undefined && { candidate: candidate.number }),
    generations: alive.map((number) => {
      const name = `generation:${number}`
      const instance = instanceOf(number)
      const frames = instance?.traffic && { ...instance.traffic, dropped: instance.droppedFrames }
      return {
        number,
        actorId: `package:${key}/${name}`,
        state: [...statesOf(children[name]?.getSnapshot())],
        ...(frames !== undefined && { frames }),
      }
    }),
    strikes,
    droppedFrames: record.droppedFrames,
    ...(reason !== undefined && { reason: plainSentence(reason) }),
  }
}

type Identity = Pick<InspectedPlugin, 'pluginId' | 'origin' | 'requestedCapabilities' | 'grantedCapabilities' | 'diagnostics'> &
  Partial<Pick<InspectedPlugin, 'workspace' | 'source' | 'scope' | 'revision' | 'retainedRevision'>>

function identityOf(record: PluginRecord, snapshot: PackageSnapshot): Identity {
  const { origin, droppedFrames } = record
  const none = { requestedCapabilities: [], grantedCapabilities: [] }
  const problems = problemsOf(record)
  switch (origin.kind) {
    case 'native':
      return { ...none, pluginId: origin.plugin.id, origin: 'native', diagnostics: problems }
    case 'process':
      return { ...none, pluginId: origin.entry.id, origin: 'process', workspace: origin.directory, diagnostics: problems }
    case 'hook-command':
      return { ...none, pluginId: origin.command.id, origin: 'hook-command', workspace: origin.directory, diagnostics: problems }
    case 'package': {
      const { found, place, granted } = origin.sighting
      const info = lifecycleInfo({ found, place, granted, droppedFrames }, snapshot)
      return {
        pluginId: found.id,
        origin: 'package',
        source: info.source,
        scope: info.scope,
        revision: info.revision,
        ...(place.workspaceId !== undefined && { workspace: place.workspaceId }),
        ...(info.retainedRevision !== undefined && { retainedRevision: info.retainedRevision }),
        requestedCapabilities: info.requestedCapabilities,
        grantedCapabilities: info.grantedCapabilities,
        diagnostics: [...info.diagnostics, ...problems],
      }
    }
  }
}
