/** What a task in the foreground has done to files is told by its call, so that undoing the turn undoes it (sessions-events §7.3). */
import type { NativeHost } from '../../ports/plugin.js'
import { isWithin } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import type { ChangeNotes, FileSnapshot, FileState } from '../../protocol/session/snapshot.js'

interface Caller {
  readonly sessionId: string
  readonly directory: string
}

/** Of all that the session of the task and those below it have changed since then, as a part of the calling session tells it. */
export async function changesOfTask(
  { sessions, fileStates }: Pick<NativeHost, 'sessions' | 'fileStates'>,
  taskId: string,
  { sessionId, directory }: Caller,
  since: number,
): Promise<ChangeNotes> {
  const { snapshots = [], unkept } = sessions.changes(taskId, { since, keeper: sessionId })
  if (snapshots.length > LIMITS.undo.partFiles) return { unkept: `the task changed ${snapshots.length} files, more than are kept` }
  const kept = fileStates.begin(sessionId)
  const keep = async (state: FileState): Promise<FileState> =>
    state.contentBase64 === undefined ? state : kept.file(Buffer.from(state.contentBase64, 'base64'), state.mode)
  const told: FileSnapshot[] = []
  for (const { path, before, after } of snapshots)
    told.push({ ...placeIn(directory, path), before: await keep(before), after: await keep(after) })
  return { ...(told.length > 0 && { snapshots: told }), ...(unkept !== undefined && { unkept }) }
}

function placeIn(directory: string, path: string): Pick<FileSnapshot, 'path' | 'absolute'> {
  const isInside = path !== directory && isWithin(directory, path)
  return isInside ? { path: path.slice(directory === '/' ? 1 : directory.length + 1) } : { path, absolute: true }
}
