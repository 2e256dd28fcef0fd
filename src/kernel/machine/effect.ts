/**
 * An effect that ends with a value, as `fromPromise` has it, without what most do not need: what has nothing to wait for answers its value and
 * no promise, and a signal is made for who looks at it.
 *
 * I1 It ends in a later job than it began, whatever it answers: whoever watches is told in the order of XState.
 */
import { type AnyActorRef, fromPromise, type NonReducibleUnknown, type PromiseActorLogic } from 'xstate'

interface Given<Input> {
  readonly input: Input
  /** Aborts when the effect is stopped before its end. */
  readonly signal: AbortSignal
}

/** What ends with an effect that is stopped. */
const controllers = new WeakMap<AnyActorRef, AbortController>()
const NOW = Promise.resolve()

export function fromEffect<Output, Input = NonReducibleUnknown>(
  effect: (given: Given<Input>) => Output | Promise<Output>,
): PromiseActorLogic<Output, Input> {
  const logic = fromPromise<Output, Input>(() => Promise.reject(new Error('an effect is begun by itself')))
  return {
    ...logic,
    transition(state, event, scope) {
      if (event.type === 'xstate.stop') controllers.get(scope.self)?.abort()
      return logic.transition(state, event, scope)
    },
    start(state, { self }) {
      if (state.status !== 'active') return
      // What `fromPromise` tells itself when it is settled.
      const settle = (type: string, data: unknown): void => {
        controllers.delete(self)
        if (self.getSnapshot().status === 'active') self.send({ type, data })
      }
      const fail = (error: unknown) => settle('xstate.promise.reject', error)
      const end = (value: Output) => settle('xstate.promise.resolve', value)
      const given = {
        // It is an actor's input as long as the effect is not over.
        input: state.input as Input,
        get signal() {
          const controller = controllers.get(self) ?? new AbortController()
          controllers.set(self, controller)
          return controller.signal
        },
      }
      try {
        const ended = effect(given)
        if (ended instanceof Promise) ended.then(end, fail)
        else void NOW.then(() => end(ended))
      } catch (error) {
        void NOW.then(() => fail(error))
      }
    },
  }
}
