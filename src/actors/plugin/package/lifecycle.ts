/** What people are told of a package: its state on the wire and its diagnostics (plugin-protocol §3.1, http-contract §2.11). */
import type { PackagePlace } from '../../../machines/plugin/capability.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import { capabilityWords } from '../../../protocol/plugin/capability-words.js'
import { NATIVE_WORDS } from '../../../protocol/plugin/native-api.js'
import type { HostCapability, PackageDiagnostic, PackageLifecycleInfo, PackageState } from '../../../protocol/plugin/plugin.js'
import { NOT_GRANTED, type ReadPackage } from './assess.js'
import type { PackageSnapshot } from './package-supervisor.js'
import { plainSentence } from '../../../protocol/text/plain-sentence.js'

export interface LifecycleSubject {
  readonly found: ReadPackage
  readonly place: PackagePlace
  readonly granted: readonly HostCapability[]
  readonly isNative: boolean
  readonly droppedFrames: number
}

const INSPECT = 'inspect logs or restore the retained revision'

export function lifecycleInfo(
  { found, place, granted, isNative, droppedFrames }: LifecycleSubject,
  snapshot: PackageSnapshot,
): PackageLifecycleInfo {
  const { serving, assessment } = snapshot.context
  const state = packageStateOf(snapshot) ?? 'discovered'
  const requested = found.manifest?.agent?.capabilities ?? []
  const target = found.manifest?.agent ?? {}
  const native = found.manifest?.agent?.native
  const requests = requested.map((capability) => ({ capability, words: capabilityWords(capability, target) }))
  return {
    packageId: found.id,
    state,
    source: found.source,
    revision: found.revision,
    ...(found.digest !== '' && { digest: found.digest }),
    scope: place.scope,
    ...(place.scopeId !== undefined && { scopeId: place.scopeId }),
    requestedCapabilities: [...requested],
    grantedCapabilities: [...granted],
    ...(requests.length > 0 && { requests }),
    ...(native !== undefined && {
      native: { entrypoint: native.entrypoint, apiVersion: native.apiVersion, approved: isNative, words: NATIVE_WORDS },
    }),
    ...(serving !== undefined && serving.revision !== found.revision && { retainedRevision: serving.revision }),
    leaseActive: serving !== undefined,
    diagnostics: diagnosticsOf(state, snapshot, assessment?.diagnostics ?? []),
    ...(serving !== undefined && { generation: serving.number }),
    ...(droppedFrames > 0 && { droppedFrames }),
  }
}

function diagnosticsOf(
  state: PackageState,
  { context: { reason, serving, assessment } }: PackageSnapshot,
  found: readonly PackageDiagnostic[],
): PackageDiagnostic[] {
  const why = plainSentence(reason ?? 'it ended without a reason')
  switch (state) {
    case 'degraded':
      return [{ code: 'degraded', message: why, action: INSPECT }]
    case 'failed':
      return found.length > 0 ? [...found] : [{ code: 'failed', message: why, action: INSPECT }]
    case 'update-available': {
      const retained = { code: 'retained-last-known-good', message: `the approved revision ${serving?.revision ?? ''} keeps serving` }
      if (assessment?.verdict === 'trusted')
        return [{ code: 'failed', message: `the new revision did not start: ${why}`, action: INSPECT }, retained]
      if (assessment?.verdict === 'invalid') return [...found, retained]
      return [
        { code: 'approval-required', message: 'approve the updated revision', action: 'review capabilities' },
        ...found.filter(({ code }) => code === NOT_GRANTED),
        retained,
      ]
    }
    case 'active':
      return reason === undefined
        ? []
        : [{ code: 'retained-last-known-good', message: `the last change did not start: ${why}`, action: INSPECT }]
    default:
      return [...found]
  }
}
