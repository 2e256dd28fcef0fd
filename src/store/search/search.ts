/** What the index of the search promises (subsystems i). */

export interface Found {
  readonly messageId: string
  readonly sessionId: string
  readonly role: string
  readonly created: number
  readonly text: string
}

export interface SearchIndex {
  /** Opens the file, or makes it; answers whether it begins from nothing. Throws `store.unavailable`. */
  open(): { readonly isNew: boolean }
  /** One bounded step towards what the sessions hold now; `damaged`: the file is to be discarded. Throws `store.unavailable`, also while it is not open. */
  step(): 'more' | 'done' | 'damaged'
  /** Forgets everything; the next `open` begins from nothing. */
  discard(): void
  /** At most `limit` messages, the best first, only of `sessions`, if they are given; undefined while there is nothing to search in. Throws `store.unavailable`. */
  find(query: string, limit: number, sessions?: readonly string[]): readonly Found[] | undefined
  /** How many messages it holds. */
  size(): number
  /** Whether the message is there to be seen now. */
  isShown(messageId: string): boolean
  close(): void
}
