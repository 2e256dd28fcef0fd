/** What would move a plugin on from where it is: what a person may do here, and what only a command or another file can do. */
import type { InspectedPlugin } from '../../protocol/system/inspector.js'

type Act = 'approve' | 'withdraw' | 'disable' | 'enable' | 'reload'

export interface Move {
  /** Absent where the server has no operation for it. */
  readonly act?: Act
  readonly label: string
  readonly does: string
  /** The same on the command line. */
  readonly command?: string
}

export function movesOf(plugin: InspectedPlugin): Move[] {
  const { pluginId: id, state, generations } = plugin
  if (state === 'disabled') {
    return [{ act: 'enable', label: 'Switch on', does: 'It starts as another generation.', command: `svc plugin enable ${id}` }]
  }
  const moves = approval(plugin)
  if (generations.length > 0 || state === 'failed') {
    moves.push({
      act: 'reload',
      label: 'Reload',
      does: 'Off and on again: another generation starts.',
      command: `svc plugin disable ${id} && svc plugin enable ${id}`,
    })
  }
  moves.push({
    act: 'disable',
    label: 'Disable',
    does: 'It takes no more calls and ends those it has.',
    command: `svc plugin disable ${id}`,
  })
  if (plugin.origin === 'package' && (plugin.verdict === 'trusted' || plugin.retainedRevision !== undefined)) {
    moves.push({
      act: 'withdraw',
      label: 'Retire',
      does: 'Takes its approval back: what runs of it is retired at once.',
      command: `svc plugin untrust ${id}`,
    })
  }
  return moves
}

/** What is done on the command line alone, because it changes files of the package or goes on as long as somebody looks. */
export function commandsOf(plugin: InspectedPlugin): Required<Omit<Move, 'act'>>[] {
  const { pluginId: id, origin, source, hasEarlier, retainedRevision } = plugin
  const commands = []
  if (origin === 'package' && source === 'user') {
    commands.push({
      label: 'Update',
      does: 'Fetches it anew from where "svc plugin add" took it, with what differs line by line and what it asks for that it did not. What serves goes on until the new content is approved.',
      command: `svc plugin update ${id} --diff`,
    })
  }
  if (origin === 'package' && (retainedRevision !== undefined || hasEarlier === true)) {
    commands.push({
      label: 'Restore',
      does: 'Puts back into its folder the content that serves, or was approved last.',
      command: `svc plugin restore ${id}${placeOf(plugin)}`,
    })
  }
  commands.push({
    label: 'Logs',
    does: 'What the log of the server says of it, its own output included, as it comes.',
    command: `svc logs --follow --plugin ${id}`,
  })
  return commands
}

/** Options that say which package of this id is meant. */
function placeOf({ workspace, source }: InspectedPlugin): string {
  return `${workspace === undefined ? '' : ` --directory ${quoted(workspace)}`}${source === undefined ? '' : ` --source ${source}`}`
}

function approval(plugin: InspectedPlugin): Move[] {
  const { pluginId: id, origin, verdict, scope, scopeId, native, unprovidedCapabilities = [] } = plugin
  if (origin !== 'package' || verdict === 'trusted') return []
  if (verdict === 'invalid')
    return [{ label: 'Repair the package', does: 'What is wrong stands above; svc looks again when a file changes.' }]
  if (unprovidedCapabilities.length > 0) {
    const does = `Nothing here provides ${unprovidedCapabilities.join(', ')}: take it out of agent.capabilities, or use a server that has a broker for it.`
    return [{ label: 'Ask for less', does }]
  }
  const place = placeOf(plugin)
  if (scope === 'session' && scopeId === undefined) {
    return [
      {
        label: 'Approve',
        does: 'It runs for one session at a time, which the command names.',
        command: `svc plugin trust ${id} --session <id>${place}`,
      },
    ]
  }
  const session = scope === 'session' ? ` --session ${scopeId}` : ''
  const command = `svc plugin trust ${id}${session}${place}`
  const inside = { label: 'Approve its native part', does: `It may do ${native?.words ?? ''}.`, command: `${command} --native` }
  return [
    { act: 'approve', label: 'Approve…', does: 'Shows what would be approved, and asks.', command },
    ...(native === undefined ? [] : [inside]),
  ]
}

/** The approval of exactly what is shown, as `svc plugin trust` writes it. */
export function approvalOf(plugin: InspectedPlugin): Readonly<Record<string, unknown>> {
  const { pluginId, workspace, revision, digest, scope, scopeId, runtime, requestedCapabilities } = plugin
  const isInWorkspace = scope === 'workspace' || scope === 'session'
  return {
    workspaceId: isInWorkspace ? (workspace ?? '') : '',
    packageId: pluginId,
    revision,
    digest,
    scope,
    ...(scopeId !== undefined && { scopeId }),
    capabilities: [...new Set(requestedCapabilities)],
    executableApproved: runtime === 'process',
    luaApproved: runtime === 'lua',
    nativeApproved: false,
  }
}

/** Approvals of the plugin for other places, which stay as they are. */
export function otherApprovals(plugin: InspectedPlugin, trust: unknown): unknown[] {
  const own = approvalOf(plugin)
  const isSamePlace = (other: unknown) => {
    if (typeof other !== 'object' || other === null) return false
    const { workspaceId, scope = plugin.scope, scopeId }: { workspaceId?: unknown; scope?: unknown; scopeId?: unknown } = other
    const isShared = plugin.workspace === undefined
    return (isShared || workspaceId === own['workspaceId']) && scope === plugin.scope && scopeId === plugin.scopeId
  }
  return recordsOf(trust).filter((other) => !isSamePlace(other))
}

/** Approvals are a list, or one alone. */
export function recordsOf(trust: unknown): readonly unknown[] {
  if (Array.isArray(trust)) return trust
  return trust === undefined || trust === null ? [] : [trust]
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
