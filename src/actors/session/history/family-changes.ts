/** What a session and all below it have done to files, as the calls of their tools tell (sessions-events §7.2, §7.3). */
import { composeSteps } from '../../../machines/session/undo/compose.js'
import { changesOf } from '../../../machines/session/undo/history.js'
import type { ToolPart } from '../../../protocol/message/message.js'
import type { ChangeNotes, FileSnapshot } from '../../../protocol/session/snapshot.js'
import type { Store } from '../../../store/store.js'

/** What a task tells of the session it was done in is told by the calls of that session. */
const DELEGATES = 'task'

interface Done {
  readonly ended: number
  readonly snapshots: readonly FileSnapshot[]
  readonly unkept: string | undefined
}

/** Of calls that began at `since` or later; paths are absolute, one change for each file. */
export function familyChanges(
  { store }: { readonly store: Pick<Store, 'sessions' | 'messages'> },
  sessionId: string,
  since: number,
): ChangeNotes {
  const calls = store.sessions
    .family(sessionId)
    .flatMap((member) => callsOf(store, member, since))
    .toSorted((a, b) => a.ended - b.ended)
  const steps = calls.flatMap(({ snapshots }) => snapshots.map(({ path, before, after }) => ({ path, from: before, to: after })))
  const snapshots = composeSteps(steps).map(({ path, from, to }): FileSnapshot => ({ path, absolute: true, before: from, after: to }))
  const unkept = calls.find((call) => call.unkept !== undefined)?.unkept
  return { ...(snapshots.length > 0 && { snapshots }), ...(unkept !== undefined && { unkept }) }
}

function callsOf(store: Pick<Store, 'sessions' | 'messages'>, sessionId: string, since: number): Done[] {
  const directory = store.sessions.get(sessionId)?.directory ?? ''
  return store.messages.all(sessionId).flatMap(({ info, parts }) =>
    parts.flatMap((part): Done[] => {
      const time = part.type === 'tool' && part.tool !== DELEGATES ? timeOf(part) : undefined
      if (time === undefined || time.start < since) return []
      const { snapshots, unkept } = changesOf(part)
      const base = info.role === 'assistant' ? info.path.cwd : directory
      return [{ ended: time.end, snapshots: snapshots.map((snapshot) => absolute(snapshot, base)), unkept }]
    }),
  )
}

function timeOf({ state }: ToolPart): { readonly start: number; readonly end: number } | undefined {
  if (state.status === 'pending') return undefined
  return { start: state.time.start, end: state.status === 'running' ? Number.MAX_SAFE_INTEGER : (state.time.end ?? state.time.start) }
}

function absolute(snapshot: FileSnapshot, base: string): FileSnapshot {
  return snapshot.absolute === true ? snapshot : { ...snapshot, absolute: true, path: `${base === '/' ? '' : base}/${snapshot.path}` }
}
