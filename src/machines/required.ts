/** Placeholders for effects a machine names and `src/actors` provides; running one unprovided is a programming error. */
import { type AnyEventObject, fromCallback, fromPromise } from 'xstate'

/** An effect that ends with a value. */
export function requiredPromise<Output, Input>(name: string) {
  return fromPromise<Output, Input>(() => Promise.reject(new Error(`effect "${name}" is not provided`)))
}

/** A long-lived effect that reports by events until its state is left. */
export function requiredCallback<Input, Received extends AnyEventObject = AnyEventObject>(name: string) {
  return fromCallback<Received, Input>(() => {
    throw new Error(`effect "${name}" is not provided`)
  })
}
