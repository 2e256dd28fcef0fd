/**
 * Several clients on one session: who took part, and who controls it (http-contract §2.5).
 *
 * I1 A lease is over at its time, or when it was given up; its revision grows on, so that a claim made on an old one is seen to be late.
 * I2 While somebody holds it, nobody else changes the session, nor those it delegates to: no prompt, no command, no answer, nothing of its
 *    history or its queue. Reading it and aborting it is free. What a session does by itself is not somebody else: its tasks work on.
 * I3 Nobody else deletes it with what it was forked or delegated from.
 */
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { ClaimSessionControlRequest, SessionControl, SessionParticipant } from '../../../protocol/session/sharing.js'
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows } from '../state/core.js'
import { withDelegators } from '../state/imported.js'

type Core = Pick<Rows, 'store' | 'journal' | 'effects'>

const actorTypeOf = ({ actorType, directoryPrefixes }: Caller): SessionParticipant['actorType'] =>
  actorType ?? (directoryPrefixes === undefined ? 'human' : 'service-account')

/** The lease that counts now; null when there is none. */
export function controlOf({ store, effects }: Pick<Core, 'store' | 'effects'>, sessionId: string): SessionControl | null {
  const control = store.sharing.control(sessionId)
  return control === undefined || control.leaseExpiresAt <= effects.clock.now() ? null : control
}

export function claimControl(
  core: Core,
  caller: Caller,
  sessionId: string,
  { expectedRevision, leaseSeconds }: ClaimSessionControlRequest,
): SessionControl {
  sessionOrThrow(core, sessionId)
  const last = core.store.sharing.control(sessionId)
  const held = controlOf(core, sessionId)
  if (held !== null && held.controllerSubject !== caller.subject) throw controlledBy(held)
  expect(sessionId, last, expectedRevision)
  const now = core.effects.clock.now()
  const control: SessionControl = {
    sessionId,
    controllerSubject: caller.subject,
    actorType: actorTypeOf(caller),
    leaseExpiresAt: now + leaseSeconds * 1000,
    revision: (last?.revision ?? 0) + 1,
    updated: now,
  }
  core.journal.commit('power', (tx) => {
    core.store.sharing.putControl(control)
    noteParticipant(core, caller, sessionId)
    tell(tx, sessionId, control)
  })
  return control
}

/** False when nobody held it. Throws `resource.conflict` when somebody else does, or at another revision. */
export function releaseControl(core: Core, caller: Caller, sessionId: string, expectedRevision: number | undefined): boolean {
  sessionOrThrow(core, sessionId)
  const held = controlOf(core, sessionId)
  if (held !== null && held.controllerSubject !== caller.subject) throw controlledBy(held)
  expect(sessionId, core.store.sharing.control(sessionId), expectedRevision)
  if (held === null) return false
  const now = core.effects.clock.now()
  core.journal.commit('power', (tx) => {
    core.store.sharing.putControl({ ...held, leaseExpiresAt: now, revision: held.revision + 1, updated: now })
    tell(tx, sessionId, null)
  })
  return true
}

/** I2. */
export function refuseControlled(core: Pick<Core, 'store' | 'effects'>, caller: Caller, sessionId: string): void {
  if (caller.isAutomatic === true) return
  for (const { id } of withDelegators(core, sessionId)) refuseHeld(core, caller, id)
}

/** I3. */
export function refuseAnyControlled(core: Pick<Core, 'store' | 'effects'>, caller: Caller, sessionIds: readonly string[]): void {
  for (const id of sessionIds) refuseHeld(core, caller, id)
}

function refuseHeld(core: Pick<Core, 'store' | 'effects'>, caller: Caller, sessionId: string): void {
  const held = controlOf(core, sessionId)
  if (held !== null && held.controllerSubject !== caller.subject) throw controlledBy(held)
}

/** Joins the commit of what somebody did. */
export function noteParticipant({ store, effects }: Pick<Core, 'store' | 'effects'>, caller: Caller, sessionId: string): void {
  store.sharing.note(sessionId, { subject: caller.subject, actorType: actorTypeOf(caller) }, effects.clock.now())
}

function tell(tx: Change, sessionId: string, control: SessionControl | null): void {
  tx.emit('session.control.updated', { sessionID: sessionId, control })
}

function expect(sessionId: string, last: SessionControl | undefined, expected: number | undefined): void {
  const currentRevision = last?.revision ?? 0
  if (expected === undefined || expected === currentRevision) return
  throw new SvcError('resource.conflict', `The control of this session is at revision ${currentRevision}, not ${expected}.`, {
    sessionId,
    currentRevision,
  })
}

function controlledBy({ sessionId, controllerSubject, leaseExpiresAt, revision }: SessionControl): SvcError {
  const until = new Date(leaseExpiresAt).toISOString()
  return new SvcError('resource.conflict', `${controllerSubject} controls this session until ${until}.`, {
    sessionId,
    controllerSubject,
    leaseExpiresAt,
    currentRevision: revision,
  })
}
