/** The clone machine with its effects. Decides nothing. */
import { chartOf } from '../../kernel/machine/chart.js'
import { type AnyEventObject, fromCallback, fromPromise } from 'xstate'
import { cloneMachine } from '../../machines/workspace/clone.machine.js'
import type { Turns } from '../../kernel/turns.js'

export interface CloneSteps {
  readonly turns: Turns
  fetch(signal: AbortSignal): Promise<void>
  checkOut(signal: AbortSignal): Promise<void>
  register(): Promise<void>
  /** Called once no other step is under way. */
  clean(): Promise<void>
  /** Why a step failed. */
  onFault(error: unknown): void
}

export function cloneLogic(steps: CloneSteps) {
  /** Git that was told to end is waited for before its directory is removed. */
  let work: Promise<void> = Promise.resolve()

  function step(run: (signal: AbortSignal) => Promise<void>) {
    return fromPromise<void, { name: string }>(({ signal }) => {
      const running = run(signal)
      work = running.catch(steps.onFault)
      return running
    })
  }

  return chartOf(cloneMachine).provide({
    actors: {
      turn: fromCallback<AnyEventObject, { name: string }>(({ sendBack }) => {
        const left = new AbortController()
        steps.turns.take(left.signal).then(
          (giveBack) => {
            if (left.signal.aborted) return giveBack()
            left.signal.addEventListener('abort', giveBack)
            sendBack({ type: 'turn.taken' })
          },
          (error: unknown) => {
            if (left.signal.aborted) return
            steps.onFault(error)
            sendBack({ type: 'turn.refused' })
          },
        )
        return () => left.abort()
      }),
      fetch: step((signal) => steps.fetch(signal)),
      checkOut: step((signal) => steps.checkOut(signal)),
      register: step(() => steps.register()),
      clean: fromPromise(async () => {
        await work
        await steps.clean()
      }),
    },
  })
}
