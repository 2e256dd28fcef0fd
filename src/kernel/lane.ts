/**
 * Work that is done one after the other, in the order it came.
 *
 * I1 Work begins when all that came before it has ended, however that ended; never in the call that asks for it.
 * I2 Who gives up while waiting leaves at once without a turn, and nobody passes whoever is at work.
 * I3 A key takes memory while there is work for it.
 */
export interface Lane {
  /** What the work comes to. Rejects with `full()` when `most` are in the lane, and with the reason of `signal` when that aborts before its turn. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** How many are in it: whose turn it is, and all who wait. */
  readonly size: number
}

/** A lane for each key; different keys do not wait for each other. */
export interface Lanes<Key> {
  run<T>(key: Key, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Whether there is work for a key, under way or waiting. */
  has(key: Key): boolean
  /** Of keys there is work for. */
  readonly size: number
}

interface LaneOptions {
  /** How many may be in a lane at once, whose turn it is included. */
  readonly most: number
  /** What is told to one more. */
  readonly full?: () => Error
}

interface LanesOptions<Key> {
  readonly most: number
  readonly full?: (key: Key) => Error
}

export function createLane({ most, full = () => new Error(`${most} wait already`) }: LaneOptions): Lane {
  let last: Promise<unknown> = Promise.resolve()
  let size = 0

  async function inTurn<T>(ready: Promise<unknown>, work: () => Promise<T>): Promise<T> {
    try {
      await ready
      return await work()
    } finally {
      size -= 1
    }
  }

  return {
    run(work, signal) {
      if (size >= most) return Promise.reject(full())
      size += 1
      const before = last
      const result = inTurn(signal === undefined ? before : orAborted(before, signal), work)
      last = signal === undefined ? result.catch(ignore) : Promise.allSettled([before, result]) // I2
      return result
    },
    get size() {
      return size
    },
  }
}

export function createLanes<Key>({ full, ...options }: LanesOptions<Key>): Lanes<Key> {
  const lanes = new Map<Key, Lane>()
  return {
    async run(key, work, signal) {
      const lane = lanes.get(key) ?? createLane({ ...options, ...(full && { full: () => full(key) }) })
      lanes.set(key, lane)
      try {
        return await lane.run(work, signal)
      } finally {
        if (lane.size === 0) lanes.delete(key) // I3
      }
    },
    has: (key) => lanes.has(key),
    get size() {
      return lanes.size
    },
  }
}

async function orAborted(ready: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let abort: () => void = ignore
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([ready, aborted])
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function ignore(): void {}
