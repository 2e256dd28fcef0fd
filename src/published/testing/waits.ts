/**
 * Waiting for something that a test has set going: it ends with the event, or fails in real time with what is known.
 *
 * I1 Every wait ends: with its event, after its time, or with the runtime.
 * I2 A wait that nobody looks at any more fails silently.
 */

interface Wait<T> {
  /** What is waited for, in words. */
  readonly what: string
  readonly withinMs: number | undefined
  /** Starts to listen; answers the function that ends it. */
  listen(resolve: (value: T) => void): () => void
  /** What is known when the time is over. */
  found(): string
}

export interface Waits {
  /** `from` is the function of the library the test has called: the stack of the error begins above it. */
  until<T>(wait: Wait<T>, from: (...args: never) => unknown): Promise<T>
  endAll(): void
}

/** `hint` tells what could make something happen. */
export function createWaits(defaultMs: number, hint: () => string): Waits {
  const ends = new Set<() => void>()
  return {
    until({ what, withinMs = defaultMs, listen, found }, from) {
      const at = stackAbove(from)
      const waited = new Promise<never>((resolve, reject) => {
        let stopListening = (): void => undefined
        const end = () => {
          clearTimeout(timer)
          ends.delete(stopped)
          stopListening()
        }
        const fail = (message: string) => {
          end()
          reject(errorAt(message, at))
        }
        const stopped = () => fail(`${what}: the runtime was stopped`)
        const timer = setTimeout(() => fail(`${what}: not within ${withinMs} ms. ${[found(), hint()].filter(Boolean).join(' ')}`), withinMs)
        ends.add(stopped)
        stopListening = listen((value) => {
          end()
          resolve(value as never)
        })
      })
      waited.catch(() => undefined) // I2
      return waited
    },
    endAll() {
      for (const end of ends) end()
    },
  }
}

/** An error whose stack begins where the test called the library. */
export function errorAt(message: string, at: string): Error {
  const error = new Error(message)
  error.stack = `Error: ${message}\n${at}`
  return error
}

export function stackAbove(from: (...args: never) => unknown): string {
  const here: { stack?: string } = {}
  Error.captureStackTrace(here, from)
  return (here.stack ?? '').split('\n').slice(1).join('\n')
}
