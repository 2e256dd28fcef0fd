/**
 * The end of a session with what came from it (sessions-events §2.3).
 *
 * I1 What it delegated to goes with it. A fork goes too, or is kept: then it becomes a root, with all that came from it, in the commit in which the session goes.
 * I2 A fork that is kept rests, with all below it: what is under way counts for the family that it leaves.
 * I3 What a session that goes has resumed may do no more for it: what made its rules stays with the task.
 */
import { LOCAL_TENANT } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { isDelegated, type Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import { type Rows, sessionOrThrow, type Work } from './core.js'
import { withoutResumer } from './delegation.js'
import { isQuiet } from './quiet.js'

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
    const gone = leaving.map((member) => sessionOrThrow(core, member))
    for (const fork of forks) detach(core, tx, fork, gone)
    const members = leaving.toReversed()
    for (const member of members) remove(core, tx, member)
    return members
  })
}

function remove(core: Rows & Work, tx: Change, id: string): void {
  const info = core.store.sessions.get(id)
  if (info === undefined) return
  core.interactions.withdraw(tx, id)
  core.partings.part(tx, id)
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
function detach(core: Rows & Work, tx: Change, { parentId: _parent, ...fork }: Session, gone: readonly Session[]): void {
  const family = core.store.sessions.family(fork.id)
  const busy = family.find((member) => !isQuiet(core, member))
  if (busy !== undefined) {
    throw new SvcError('resource.conflict', `${busy} is running, of a fork that is to be kept; try again when it is idle.`, {
      sessionId: busy,
    })
  }
  core.store.sessions.update(fork)
  tx.emit('session.updated', { sessionID: fork.id, info: fork })
  for (const member of family) keepCeilings(core, tx, member, gone)
  tx.after(() => {
    core.families.detached(fork.id)
    core.owners.noted(fork)
  })
}

/** I3. */
function keepCeilings({ store }: Rows, tx: Change, id: string, gone: readonly Session[]): void {
  for (const resumer of gone) {
    const info = withoutResumer(sessionOrThrow({ store }, id), resumer)
    if (info === undefined) continue
    tx.emitSession('session.updated', store.sessions.update(info))
  }
}
