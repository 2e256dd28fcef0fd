/** Work that may be stopped before its end. Most of it never looks at its signal, which is made for who does. */

export interface Stopping {
  readonly isStopped: boolean
  /** Aborts when the work is stopped. */
  readonly signal: AbortSignal
}

/** What has ended is not stopped any more: the reason of an abort is an error with a stack. */
export class Stoppable implements Stopping {
  #controller: AbortController | undefined = undefined
  #isOver = false
  isStopped = false

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.isStopped) this.#controller.abort()
    return this.#controller.signal
  }

  over(): void {
    this.#isOver = true
  }

  stop(): void {
    if (this.#isOver) return
    this.isStopped = true
    this.#controller?.abort()
  }
}
