/** A process that serves before it has an actor: who waits for the actor, and how it comes to be made. */
import type { AdoptedProcess, InstanceRef } from './instance.js'

export interface LateAdoption {
  readonly process: AdoptedProcess
  /** The actor was made. */
  made(ref: InstanceRef): void
}

/** `wake` makes the actor, if its generation is still there. */
export function adoptLate(wake: () => void): LateAdoption {
  const waiting: ((ref: InstanceRef) => void)[] = []
  let actor: InstanceRef | undefined
  return {
    process: {
      onMade(use) {
        if (actor === undefined) waiting.push(use)
        else use(actor)
      },
      make() {
        if (actor === undefined) wake()
        if (actor === undefined) throw new Error('the generation has ended')
        return actor
      },
    },
    made(ref) {
      actor = ref
      for (const use of waiting.splice(0)) use(ref)
    },
  }
}
