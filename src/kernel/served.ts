/**
 * Programs or connections by place, each made of the text it was configured with.
 *
 * I1 At most one for each key: one that was made of another text is retired before the next is made.
 * I2 Their number is bounded where it is: the one used longest ago is retired.
 * I3 One that is retired is known no more, also while it ends; `retire`, `ended` and `stop` resolve when nothing runs of any of them.
 */
export interface Pool<Place, One> {
  /** The one of a key, made where there is none of this text. Undefined once stopped. */
  of(key: string, text: string, place: Place): One | undefined
  /** As it is; of this text, when one is given. */
  known(key: string, text?: string): One | undefined
  /** The one used longest ago first. */
  all(): readonly One[]
  retire(fits: (one: One, text: string) => boolean): Promise<void>
  ended(): Promise<void>
  /** Retires all of them for good. */
  stop(): Promise<void>
  /** Aborts when it is stopped. */
  readonly over: AbortSignal
}

/** `retire` of one never rejects. */
export function createPool<Place, One extends { retire(): Promise<void> }>(
  make: (place: Place) => One,
  most = Number.POSITIVE_INFINITY,
): Pool<Place, One> {
  const members = new Map<string, { readonly one: One; readonly text: string }>()
  const retiring = new Set<Promise<void>>()
  const stopping = new AbortController()

  function retire(key: string): void {
    const gone = members.get(key)
    members.delete(key)
    if (gone === undefined) return
    const work = gone.one.retire().finally(() => retiring.delete(work))
    retiring.add(work)
  }

  const ended = async (): Promise<void> => void (await Promise.all(retiring))

  return {
    of(key, text, place) {
      if (stopping.signal.aborted) return undefined
      const known = members.get(key)
      if (known?.text === text) {
        members.delete(key)
        members.set(key, known)
        return known.one
      }
      retire(key) // I1
      const one = make(place)
      members.set(key, { one, text })
      const [oldest] = members.keys()
      if (members.size > most && oldest !== undefined) retire(oldest) // I2
      return one
    },
    known(key, text) {
      const known = members.get(key)
      return known !== undefined && (text === undefined || known.text === text) ? known.one : undefined
    },
    all: () => [...members.values()].map(({ one }) => one),
    retire(fits) {
      for (const [key, { one, text }] of members) if (fits(one, text)) retire(key)
      return ended()
    },
    ended,
    stop() {
      stopping.abort()
      for (const key of members.keys()) retire(key)
      return ended()
    },
    over: stopping.signal,
  }
}
