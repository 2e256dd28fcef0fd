/**
 * The end of a session with what came from it (sessions-events §2.3).
 *
 * I1 What it delegated to goes with it. A fork goes too, or is kept: then it becomes a root, with all that came from it, in the commit in which the session goes.
 * I2 A fork that is kept rests: what is under way counts for the family that it leaves.
 */
import { LOCAL_TENANT } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { isDelegated, type Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import { type Rows, sessionOrThrow, type Work } from './core.js'

interface Parted {
  /** Parents first, the session itself is the first. */
  readonly leaving: readonly string[]
  /** The forks that are kept: each of another family from now on. */
  readonly forks: readonly Session[]
}

/** What goes with a session, and what is kept of its family. */
export function partedFamily({ store }: Pick<Rows, 'store'>, id: string, keepsForks: boolean): Parted {
  if (!keepsForks) return { leaving: store.sessions.family(id), forks: [] }
  const leaving = [id]
  const forks: Session[] = []
  for (const member of leaving) {
    for (const child of store.sessions.children(member)) {
      if (isDelegated(child)) leaving.push(child.id)
      else forks.push(child)
    }
  }
  return { leaving, forks }
}

/** Deletes a session and its descendants, children first, each with its event; nothing of them may be running. Answers who they were. */
export function deleteFamily(core: Rows & Work, id: string, keepsForks: boolean): readonly string[] {
  sessionOrThrow(core, id)
  return core.journal.commit('power', (tx) => {
    const { leaving, forks } = partedFamily(core, id, keepsForks)
    for (const fork of forks) detach(core, tx, fork)
    const members = leaving.toReversed()
    for (const member of members) remove(core, tx, member)
    return members
  })
}

function remove(core: Rows & Work, tx: Change, id: string): void {
  const info = core.store.sessions.get(id)
  if (info === undefined) return
  core.interactions.withdraw(tx, id)
  core.store.sessions.delete(id)
  tx.emit('session.deleted', { sessionID: id, info, tenantID: info.svcTenantId ?? LOCAL_TENANT })
  tx.after(() => {
    core.families.removed(id)
    core.owners.noted(info)
    core.statuses.forget(id)
    core.transcripts.forget(id)
    core.executions.forget(id)
  })
}

/** I2. */
function detach(core: Rows & Work, tx: Change, { parentId: _parent, ...fork }: Session): void {
  const busy = core.store.sessions.family(fork.id).find((member) => !core.statuses.isIdle(member))
  if (busy !== undefined) {
    throw new SvcError('resource.conflict', `${busy} is running, of a fork that is to be kept; try again when it is idle.`, {
      sessionId: busy,
    })
  }
  core.store.sessions.update(fork)
  tx.emit('session.updated', { sessionID: fork.id, info: fork })
  tx.after(() => {
    core.families.detached(fork.id)
    core.owners.noted(fork)
  })
}
