/** What the index of the search promises (subsystems i). */

export interface Found {
  readonly messageId: string
  readonly sessionId: string
  readonly role: string
  readonly created: number
  readonly text: string
}

/** Work that is done in parts, the next whenever it is asked for. It may be left in the middle. */
export type Parts<Result> = Generator<void, Result, void>

/** A message that has no vector yet. */
export interface Unembedded {
  readonly key: number
  /** Cut to `LIMITS.embeddings.text`. */
  readonly text: string
}

/** What is kept of what was said: bytes of text, and nothing said before `since` (Unix ms). */
export interface KeptText {
  readonly bytes: number
  readonly since: number
}

export interface SearchIndex {
  /** Opens the file, or makes it; answers whether it begins from nothing. Throws `store.unavailable`. */
  open(): { readonly isNew: boolean }
  /** One bounded step towards what the sessions hold now, or held by event `upTo`; `damaged`: it cannot be kept up, and the file is to be discarded. Throws `store.unavailable`, also while it is not open. */
  step(upTo?: number): 'more' | 'done' | 'damaged'
  /** The last event there is. */
  head(): number
  /** Forgets everything; the next `open` begins from nothing. */
  discard(): void
  /**
   * At most `limit` messages, the best first, only of `sessions`, if they are given, ranked also by a `vector` of the query; undefined while there
   * is nothing to search in. Throws `store.unavailable`. No part looks into the index more than once, so none is long.
   */
  parts(query: string, limit: number, sessions?: readonly string[], vector?: Float32Array): Parts<readonly Found[] | undefined>
  /** Vectors are those of this model from now on; answers why there can be none. Those of another are forgotten. */
  useVectors(model: string): string | undefined
  /** The newest messages without a vector; none unless vectors are used. */
  unembedded(limit: number): readonly Unembedded[]
  /** Vectors of messages, all of one length; of those that are gone meanwhile nothing is kept. */
  putVectors(entries: readonly { readonly key: number; readonly vector: Float32Array }[]): void
  /** From the next step on; of too much the oldest goes. */
  keep(text: KeptText): void
  /** How many messages it holds. */
  size(): number
  /** Whether the message is there to be seen now. */
  isShown(messageId: string): boolean
  close(): void
}
