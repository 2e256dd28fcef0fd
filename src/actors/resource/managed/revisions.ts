/** Revisions and the conditions under which something may be written (subsystems b.13). */
import { SvcError } from '../../../protocol/errors.js'

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/

/** Whether a name may be the id of something managed, which is also the name of its file. */
export function isManagedId(id: string): boolean {
  return ID.test(id)
}

/** Throws `management.invalid_request` for what cannot be an id. */
export function requireManagedId(id: string): void {
  if (isManagedId(id)) return
  throw new SvcError('management.invalid_request', 'An id has 1 to 80 letters, digits, "_" or "-", and begins with a letter or digit.', {
    issues: [{ path: 'path.id', message: 'is no id' }],
  })
}

/** Throws `management.revision_conflict` when what is there is not what was expected; `*` expects anything. */
export function refuseOther(what: string, current: string | undefined, expected: string | undefined): void {
  if (expected === undefined || (expected === '*' && current !== undefined) || expected === current) return
  const message = current === undefined ? `There is no ${what}.` : `The ${what} was changed meanwhile.`
  throw new SvcError('management.revision_conflict', message, { currentRevision: current ?? null })
}

/** Throws `management.revision_conflict` when something is there that the call did not expect. */
export function refuseExisting(what: string, current: string | undefined, expected: string | undefined): void {
  if (expected !== undefined) return refuseOther(what, current, expected)
  if (current === undefined) return
  throw new SvcError('management.revision_conflict', `The ${what} exists.`, { currentRevision: current })
}
