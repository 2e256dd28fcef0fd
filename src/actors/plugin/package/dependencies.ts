/**
 * What packages depend on: it starts first, and what is missing of it is told (plugin-protocol §1.1, §3.4).
 *
 * I1 A dependency never keeps a package from starting: one that is missing, fails or is not approved is a diagnostic, and a wait has an end.
 */
import { type StartOrder, startOrder } from '../../../machines/plugin/start-order.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import { LIMITS } from '../../../protocol/limits.js'
import { waitAtMost } from '../../../kernel/patience.js'
import type { PackageDiagnostic } from '../../../protocol/plugin/plugin.js'
import type { Effects } from '../../../ports/effects.js'
import type { Origin, PluginRecords } from './plugin-records.js'
import type { PackageSupervisor } from './package-supervisor.js'

export interface Dependencies {
  /** Resolves once nothing that this one depends on is on its way to its first start. */
  awaited(key: string): Promise<void>
  /** What of them is not there, or does not serve. */
  problems(key: string): PackageDiagnostic[]
}

const PATIENCE = LIMITS.plugins.initialize + LIMITS.plugins.shutdownGrace

export function createDependencies(
  effects: Pick<Effects, 'clock'>,
  records: Pick<PluginRecords, 'get' | 'entries'>,
  supervisor: () => Pick<PackageSupervisor, 'snapshot' | 'settled'>,
): Dependencies {
  /** Keys of what a plugin can see, by id. */
  function seenFrom(origin: Origin): ReadonlyMap<string, readonly string[]> {
    const seen = new Map<string, string[]>()
    for (const [key, { origin: other }] of records.entries())
      if (isSeen(other, origin)) seen.set(idOf(other), [...(seen.get(idOf(other)) ?? []), key])
    return seen
  }

  function orderOf(seen: ReadonlyMap<string, readonly string[]>): StartOrder {
    const each = [...seen].flatMap(([id, keys]) => keys.map((key) => ({ id, dependencies: dependenciesOf(records.get(key)?.origin) })))
    return startOrder(each)
  }

  const isServing = (key: string) => supervisor().snapshot(key)?.context.serving !== undefined
  const isStarting = (key: string) => supervisor().snapshot(key)?.hasTag('starting') === true

  function unserved(id: string, keys: readonly string[]): PackageDiagnostic[] {
    if (keys.some((key) => isServing(key) || isStarting(key))) return []
    const states = keys.map((key) => supervisor().snapshot(key)).flatMap((snapshot) => (snapshot && packageStateOf(snapshot)) ?? [])
    return [problem(`needs ${id}, which does not serve (${states[0] ?? 'not started'})`, `svc plugin doctor ${id}`)]
  }

  return {
    async awaited(key) {
      const origin = records.get(key)?.origin
      if (dependenciesOf(origin).length === 0 || origin === undefined) return
      const seen = seenFrom(origin)
      const before = orderOf(seen).waitsFor(idOf(origin))
      const keys = before.flatMap((id) => seen.get(id) ?? [])
      await waitAtMost(effects.clock, supervisor().settled(keys), PATIENCE)
    },
    problems(key) {
      const origin = records.get(key)?.origin
      if (dependenciesOf(origin).length === 0 || origin === undefined) return []
      const seen = seenFrom(origin)
      const order = orderOf(seen)
      const id = idOf(origin)
      return [
        ...order.missing(id).map((other) => problem(`needs ${other}, which is not here`, 'install it, or take it out of "dependencies"')),
        ...order.circles(id).map((other) => problem(`needs ${other}, which needs it in turn: it does not wait for it`)),
        ...order.waitsFor(id).flatMap((other) => unserved(other, seen.get(other) ?? [])),
      ]
    },
  }
}

function problem(message: string, action?: string): PackageDiagnostic {
  return { code: 'dependency', message, ...(action !== undefined && { action }) }
}

function idOf(origin: Origin): string {
  switch (origin.kind) {
    case 'native':
      return origin.plugin.id
    case 'package':
      return origin.sighting.found.id
    case 'process':
      return origin.entry.id
    case 'hook-command':
      return origin.command.id
  }
}

function dependenciesOf(origin: Origin | undefined): readonly string[] {
  return origin?.kind === 'package' ? (origin.sighting.found.manifest?.dependencies ?? []) : []
}

/** What serves everywhere, in the same workspace, or in the same session of it. */
function isSeen(other: Origin, from: Origin): boolean {
  const [there, here] = [placeOf(other), placeOf(from)]
  if (there.directory === undefined) return true
  return there.directory === here.directory && (there.sessionId === undefined || there.sessionId === here.sessionId)
}

function placeOf(origin: Origin): { readonly directory?: string | undefined; readonly sessionId?: string | undefined } {
  if (origin.kind === 'native') return {}
  if (origin.kind !== 'package') return { directory: origin.directory }
  const { workspaceId, scopeId, scope } = origin.sighting.place
  return { directory: workspaceId, ...(scope === 'session' && { sessionId: scopeId ?? '' }) }
}
