/** A request that is posted and an answer that is read without the platform's objects and streams. */

/** An answer that is read piece by piece. */
export interface PlainAnswer {
  readonly status: number
  /** As `Headers.get`, for a name in lower case. */
  header(name: string): string | null
  /** The next bytes of the body, undefined = it is over; one look at a time. Rejects where it breaks, as the body of `fetch`. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** No more is read: the connection is closed. */
  cancel(): void
}

export interface PlainRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Pieces are sent one after the other; bytes among them are not copied, so nobody changes them. */
  readonly body: readonly (string | Uint8Array<ArrayBuffer>)[]
  /** Gets what closes the connection at once, before and after the answer. */
  readonly onOpen: (close: () => void) => void
}
