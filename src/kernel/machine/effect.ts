/**
 * Effects as machines name them: one that ends with a value, as `fromPromise` has it, and one that goes on and says what happens, as
 * `fromCallback` has it. Of the first, what has nothing to wait for answers its value and no promise, and a signal is made for who looks at it.
 * Below a machine that is laid out neither costs an actor of XState (`effect-actor.ts`).
 *
 * I1 What has nothing to wait for has ended when it has begun: its machine goes on with that before anything else happens. Whoever watches is
 *    told in the order of XState.
 */
import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyEventObject,
  type CallbackActorLogic,
  fromCallback,
  fromPromise,
  type NonReducibleUnknown,
  type PromiseActorLogic,
} from 'xstate'
import type { Stopping } from '../stopping.js'

/** Its signal aborts when the effect is stopped before its end. */
export interface Given<Input> extends Stopping {
  readonly input: Input
}

/** What an effect is told that goes on, and how it says what happens. Answers how it is stopped. */
export type Work<Received extends AnyEventObject, Input> = (given: {
  readonly input: Input
  readonly sendBack: (event: AnyEventObject) => void
  readonly receive: (listener: (event: Received) => void) => void
}) => () => void

export type Ending = (given: Given<unknown>) => unknown

/** What `fromPromise` tells itself when it is settled. */
export const RESOLVED = 'xstate.promise.resolve'
export const REJECTED = 'xstate.promise.reject'
export const STOPPED = 'xstate.stop'

/** How effects work, by what machines have of them. */
const endings = new WeakMap<object, Ending>()
const works = new WeakMap<object, Work<AnyEventObject, unknown>>()

export function endingOf(logic: AnyActorLogic): Ending | undefined {
  return endings.get(logic)
}

export function workOf(logic: AnyActorLogic): Work<AnyEventObject, unknown> | undefined {
  return works.get(logic)
}

/** What ends with an effect that is stopped. */
const controllers = new WeakMap<AnyActorRef, AbortController>()

export function fromEffect<Output, Input = NonReducibleUnknown>(
  effect: (given: Given<Input>) => Output | Promise<Output>,
): PromiseActorLogic<Output, Input> {
  const promised = fromPromise<Output, Input>(() => Promise.reject(new Error('an effect is begun by itself')))
  const logic: PromiseActorLogic<Output, Input> = {
    ...promised,
    transition(state, event, scope) {
      if (event.type === STOPPED) controllers.get(scope.self)?.abort()
      return promised.transition(state, event, scope)
    },
    start(state, { self }) {
      if (state.status !== 'active') return
      const settle = (type: string, data: unknown): void => {
        controllers.delete(self)
        if (self.getSnapshot().status === 'active') self.send({ type, data })
      }
      const given = {
        // It is an actor's input as long as the effect is not over.
        input: state.input as Input,
        get isStopped() {
          return self.getSnapshot().status === 'stopped'
        },
        get signal() {
          const controller = controllers.get(self) ?? new AbortController()
          controllers.set(self, controller)
          return controller.signal
        },
      }
      begin(() => effect(given), settle)
    },
  }
  endings.set(logic, effect as Ending)
  return logic
}

/** Tells how it ends. */
export function begin(effect: () => unknown, settle: (type: string, data: unknown) => void): void {
  let ended: unknown
  try {
    ended = effect()
  } catch (error) {
    return settle(REJECTED, error)
  }
  if (ended instanceof Promise)
    ended.then(
      (value) => settle(RESOLVED, value),
      (error: unknown) => settle(REJECTED, error),
    )
  else settle(RESOLVED, ended)
}

export function fromWork<Received extends AnyEventObject, Input = NonReducibleUnknown>(
  work: Work<Received, Input>,
): CallbackActorLogic<Received, Input> {
  const logic = fromCallback<Received, Input>(work)
  works.set(logic, work as Work<AnyEventObject, unknown>)
  return logic
}
