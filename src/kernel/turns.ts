/** A bounded number of turns at once, and a bounded number of those who wait for one, in their order. */
export interface Turns {
  /** Resolves with the function that gives the turn back. Rejects when too many wait, or when `signal` aborts first. */
  take(signal: AbortSignal): Promise<() => void>
  /** Who takes one now waits for it. */
  readonly isFull: boolean
}

export function createTurns({ atOnce, waiting }: { readonly atOnce: number; readonly waiting: number }): Turns {
  const queue = new Set<() => void>()
  let taken = 0

  function turn(): () => void {
    taken += 1
    let isGiven = true
    return () => {
      if (!isGiven) return
      isGiven = false
      taken -= 1
      const [next] = queue
      next?.()
    }
  }

  return {
    get isFull() {
      return taken >= atOnce
    },
    async take(signal) {
      signal.throwIfAborted()
      if (taken < atOnce) return turn()
      if (queue.size >= waiting) throw new Error(`${waiting} wait for a turn already`)
      return new Promise((resolve, reject) => {
        const leave = () => {
          queue.delete(begin)
          signal.removeEventListener('abort', abort)
        }
        const begin = () => {
          leave()
          resolve(turn())
        }
        const abort = () => {
          leave()
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        queue.add(begin)
        signal.addEventListener('abort', abort)
      })
    },
  }
}
