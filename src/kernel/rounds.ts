/**
 * Work of many, one piece after the other, of each of them in turn: who brings much keeps only himself waiting.
 *
 * I1 Of those who have work here each gets one piece done in a round, in the order it came; rounds go in the order in which they came.
 * I2 Who gives up while waiting leaves at once without a turn.
 * I3 A key takes memory while there is work for it.
 */
export interface Rounds<Key> {
  /** What the work comes to. Rejects with the reason of `signal` when that aborts before its turn. */
  run<T>(key: Key, work: () => Promise<T>, signal: AbortSignal): Promise<T>
}

export function createRounds<Key>(): Rounds<Key> {
  const waiting = new Map<Key, Set<() => void>>()
  let isBusy = false
  /** Who had the last turn: others come first, though they came later. */
  let last: Key | undefined

  /** I1: whose turn it is goes to the end, if he has more. */
  function next(): void {
    const [first, second] = waiting
    const whose = first?.[0] === last ? (second ?? first) : first
    isBusy = whose !== undefined
    last = whose?.[0]
    if (whose === undefined) return
    const [key, of] = whose
    const [begin] = of
    if (begin === undefined) return
    of.delete(begin)
    waiting.delete(key)
    if (of.size > 0) waiting.set(key, of)
    begin()
  }

  function turn(key: Key, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const of = waiting.get(key) ?? new Set()
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        of.delete(begin)
        if (of.size === 0 && waiting.get(key) === of) waiting.delete(key) // I3
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
      }
      of.add(begin)
      waiting.set(key, of)
      signal.addEventListener('abort', leave, { once: true })
      if (!isBusy) next()
    })
  }

  return {
    async run(key, work, signal) {
      signal.throwIfAborted()
      await turn(key, signal)
      try {
        return await work()
      } finally {
        next()
      }
    },
  }
}
