/** What an actor of an activation has decided, and how that is recorded. */
import type { SnapshotFrom } from 'xstate'
import type { activationMachine } from '../../../machines/workflows/activation.machine.js'
import type { Found } from '../files/catalog.js'
import type { Activation, Ledger, Tx } from '../runs/ledger.js'
import { type Identity, nextRecord } from './activation-record.js'

export interface Decision {
  readonly before: Activation | undefined
  readonly next: Activation
  /** Why there is no file. */
  readonly loss: string | undefined
  readonly isSaved: boolean
}

/** What an actor knows of the file it was told of last. */
interface Told {
  readonly identity: Identity
  readonly found: Found | undefined
  readonly isSaved: boolean
}

/** Undefined when all is as its row says. */
export function decisionOf(ledger: Ledger, told: Told, snapshot: SnapshotFrom<typeof activationMachine>): Decision | undefined {
  const before = ledger.activation(told.identity.activationId)
  const next = nextRecord(told.identity, before, told.found, snapshot)
  return next && { before, next, loss: snapshot.context.lost, isSaved: told.isSaved }
}

export function recordDecision(ledger: Ledger, tx: Tx, { before, next, loss, isSaved }: Decision, now: number): void {
  const { activationId, sourceHash, active } = next.projection
  if (isSaved && active && !next.isLost) ledger.note(tx, activationId, { hash: sourceHash, known: 'saved', now })
  const wasActive = before?.projection.active === true
  const isSilent = before !== undefined && (next.isLost ? !wasActive : isPassing(before, next))
  if (isSilent) ledger.noteActivation(tx, next)
  else ledger.putActivation(tx, next, next.isLost ? loss : undefined)
}

/** The schedule went on, and nothing else: the run tells of it. */
function isPassing(before: Activation, next: Activation): boolean {
  const [old, now] = [before.projection, next.projection]
  return (
    before.isLost === next.isLost && old.active === now.active && old.sourceHash === now.sourceHash && old.sourcePath === now.sourcePath
  )
}
