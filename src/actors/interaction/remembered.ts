/** Remembered "always" answers as records: listed and taken back (choice 40). They belong to a place, see `Project.approvals`. */
import { createHash } from 'node:crypto'
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import type { Approval, RememberedAnswer } from '../../protocol/interaction/interaction.js'
import type { Store } from '../../store/store.js'
import type { Journal } from '../events/journal.js'

interface Deps {
  readonly store: Pick<Store, 'approvals'>
  readonly journal: Pick<Journal, 'commit'>
  readonly projects: { identify(directory: string): Promise<{ readonly approvals: string }> }
}

/** `place` is a key of `Project.approvals`: a project, a colon, a path. */
export function rememberedAs(place: string, { permission, pattern, exact, at, sessionId, by }: Approval): RememberedAnswer {
  const key = JSON.stringify([place, permission, pattern, exact === true])
  return {
    id: `ans_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`,
    permission,
    pattern,
    ...(exact === true && { exact }),
    place: place.slice(place.indexOf(':') + 1),
    ...(at !== undefined && { remembered: at }),
    ...(sessionId !== undefined && { sessionId }),
    ...(by !== undefined && { by }),
  }
}

export async function rememberedIn({ store, projects }: Deps, { tenantId }: Caller, directory: string): Promise<RememberedAnswer[]> {
  const { approvals: place } = await projects.identify(directory)
  return store.approvals.get(tenantId, place).map((approval) => rememberedAs(place, approval))
}

/** Throws `resource.not_found`. What is judged from then on is judged without it. */
export async function forget({ store, journal, projects }: Deps, { tenantId }: Caller, directory: string, id: string): Promise<true> {
  const { approvals: place } = await projects.identify(directory)
  journal.commit('power', (tx) => {
    const all = store.approvals.get(tenantId, place)
    const gone = all.find((approval) => rememberedAs(place, approval).id === id)
    if (gone === undefined)
      throw new SvcError('resource.not_found', `There is no remembered answer "${id}" for ${directory}.`, { answerId: id })
    store.approvals.put(
      tenantId,
      place,
      all.filter((approval) => approval !== gone),
    )
    const { sessionId: sessionID } = gone
    tx.emit('permission.forgotten', { ...(sessionID !== undefined && { sessionID }), answer: rememberedAs(place, gone) })
  })
  return true
}
