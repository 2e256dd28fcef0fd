/** What is asked of an actor that looks (`src/machines/look`), of whoever owns it. */
import type { Actor, AnyStateMachine, SnapshotFrom } from 'xstate'
import { isActive, reached } from './reached.js'

interface Looks {
  readonly context: { readonly begun: number; readonly ended: number }
}

/** Has it look, and resolves when a look that began after this call has ended, however it did; at once when none is begun any more. */
export async function lookedAnew<Logic extends AnyStateMachine>(ref: Actor<Logic>): Promise<void> {
  const before = looksOf(ref.getSnapshot()).begun
  ask(ref)
  await reached(ref, (snapshot) => looksOf(snapshot).ended > before)
}

/** Has it look; nothing to one that has ended. */
export function ask<Logic extends AnyStateMachine>(ref: Actor<Logic>): void {
  tell(ref, 'asked')
}

/** A look under way ends, and none is begun any more. */
export function leave<Logic extends AnyStateMachine>(ref: Actor<Logic>): void {
  tell(ref, 'stop.requested')
}

function tell<Logic extends AnyStateMachine>(ref: Actor<Logic>, type: string): void {
  if (isActive(ref)) ref.send({ type } as Parameters<typeof ref.send>[0])
}

function looksOf<Logic extends AnyStateMachine>(snapshot: SnapshotFrom<Logic>): Looks['context'] {
  return (snapshot as Looks).context
}
