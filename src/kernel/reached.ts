/** Waits until an actor is as is meant: its state is asked by tags, of whoever owns it. */
import type { Actor, AnyStateMachine, Snapshot, SnapshotFrom } from 'xstate'

/** Resolves once the actor is so, has ended, or `signal` aborts; without `isSo`, when it has ended. */
export function reached<Logic extends AnyStateMachine>(
  ref: Actor<Logic>,
  isSo: (snapshot: SnapshotFrom<Logic>) => boolean = () => false,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true || !isActive(ref) || isSo(ref.getSnapshot())) return resolve()
    const end = (): void => {
      subscription.unsubscribe()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const subscription = ref.subscribe({
      next(snapshot) {
        if (isSo(snapshot)) end()
      },
      complete: end,
      error: end,
    })
    signal?.addEventListener('abort', end, { once: true })
  })
}

export function isActive(ref: { getSnapshot(): Snapshot<unknown> }): boolean {
  return ref.getSnapshot().status === 'active'
}
