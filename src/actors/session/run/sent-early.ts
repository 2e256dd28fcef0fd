/**
 * What the first step of a run asks leaves before its message is opened: all that it tells is committed with the claim, so a model need not wait for
 * one more commit.
 *
 * I1 Only where nothing of the run is left to be stored: what a model is told is stored before.
 * I2 What is answered is held back until the step is under way, and passes in its order.
 * I3 Whose message cannot be opened, or whose run ends before it is under way, is stopped, and nobody hears of it.
 */
import { Stoppable } from '../../../kernel/stopping.js'
import type { StreamPart } from '../../../ports/provider-adapter.js'

type Push = (part: StreamPart) => void
export type Generate = (push: Push, signal: AbortSignal) => Promise<void>

export class SentEarly {
  readonly work = new Stoppable()
  readonly #generated: Promise<void>
  #held: StreamPart[] = []
  #push: Push = (part) => {
    if (!this.work.isStopped) this.#held.push(part) // I3
  }

  constructor(generate: Generate) {
    this.#generated = begun(() => generate((part) => this.#push(part), this.work.signal))
    this.#generated.catch(() => undefined) // Told to whoever takes it.
  }

  /** The step is under way: it ends as the answer does. */
  readonly take = (push: Push): Promise<void> => {
    const held = this.#held
    this.#held = []
    this.#push = push
    for (const part of held) push(part)
    return this.#generated
  }
}

function begun(generate: () => Promise<void>): Promise<void> {
  try {
    return generate()
  } catch (error) {
    return Promise.reject(error)
  }
}
