/** Every plugin with what is known of it, for the inspector: nothing is looked up anew, nothing waits (plugin-protocol §3.1). */
import type { InspectedPlugin } from '../../protocol/inspector.js'
import { statesOf } from '../inspector/actors.js'
import { lifecycleInfo } from './package/lifecycle.js'
import type { PackageSnapshot, PackageSupervisor } from './package/package-supervisor.js'
import { plainSentence } from './plain-sentence.js'
import type { PluginRecord, PluginRecords } from './plugin-records.js'

export function inspectPlugins(records: PluginRecords, supervisor: Pick<PackageSupervisor, 'snapshot'>): InspectedPlugin[] {
  return [...records.entries()].flatMap(([key, record]) => {
    const snapshot = supervisor.snapshot(key)
    return snapshot === undefined ? [] : [describe(key, record, snapshot)]
  })
}

function describe(key: string, record: PluginRecord, snapshot: PackageSnapshot): InspectedPlugin {
  const { context, children } = snapshot
  const { serving, candidate, reason, strikes, assessment, alive } = context
  return {
    key,
    ...identityOf(record, snapshot),
    state: statesOf(snapshot).join(', '),
    ...(assessment !== undefined && { verdict: assessment.verdict }),
    ...(serving !== undefined && { serving: serving.number }),
    ...(candidate !== undefined && { candidate: candidate.number }),
    generations: alive.map((number) => {
      const name = `generation:${number}`
      return { number, actorId: `package:${key}/${name}`, state: [...statesOf(children[name]?.getSnapshot())] }
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
  const problems = [...record.problems].map(([code, { message, times }]) => ({
    code,
    message: times === 1 ? plainSentence(message) : `${plainSentence(message)} (${times} times)`,
  }))
  switch (origin.kind) {
    case 'native':
      return { ...none, pluginId: origin.plugin.id, origin: 'native', diagnostics: problems }
    case 'process':
      return { ...none, pluginId: origin.entry.id, origin: 'process', workspace: origin.directory, diagnostics: problems }
    case 'hook-command':
      return { ...none, pluginId: origin.command.id, origin: 'hook-command', workspace: origin.directory, diagnostics: problems }
    case 'package': {
      const { found, entry, place } = origin.sighting
      const info = lifecycleInfo({ found, entry, place, droppedFrames }, snapshot)
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
