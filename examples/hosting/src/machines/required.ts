/** Effects that a machine declares and does not have: they fail until somebody provides them. */
import { fromPromise } from 'xstate'

export function requiredPromise<Out, In = undefined>(name: string) {
  return fromPromise<Out, In>(() => Promise.reject(new Error(`${name} is not provided`)))
}
