/** What the client needs of the machine it runs on: time and randomness. The client runs in other programs, where nobody hands it any. */

export interface Platform {
  /** Unix milliseconds. */
  now(): number
  randomBytes(size: number): Uint8Array
  /** From 0 up to 1. */
  random(): number
  /** Runs `run` after `ms`; answers the function that calls it off. */
  after(ms: number, run: () => void): () => void
  /** Origin of the page this runs in; undefined outside of pages. */
  pageOrigin(): string | undefined
}

export const PLATFORM: Platform = {
  now: () => Date.now(),
  randomBytes: (size) => globalThis.crypto.getRandomValues(new Uint8Array(size)),
  random: () => Math.random(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  pageOrigin: () => globalThis.location?.origin,
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function pause(platform: Pick<Platform, 'after'>, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = platform.after(ms, end)
    signal?.addEventListener('abort', end, { once: true })
  })
}
