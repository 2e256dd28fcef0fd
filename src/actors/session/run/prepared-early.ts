/**
 * The first step of a run that was claimed with its prompt is prepared before its session is woken: nothing that this takes is anything a model has to
 * wait for.
 *
 * I1 It is stopped with the run, whoever has taken it.
 */
import { Stoppable, type Stopping } from '../../../kernel/stopping.js'
import type { Prepared } from '../../../machines/session/step-plan.js'

export class PreparedEarly {
  readonly #work = new Stoppable()
  readonly #prepared: Promise<Prepared>

  constructor(prepare: (stopping: Stopping) => Promise<Prepared>) {
    this.#prepared = prepare(this.#work)
    this.#prepared.catch(() => undefined) // Told to whoever takes it.
  }

  take({ signal }: Pick<Stopping, 'signal'>): Promise<Prepared> {
    signal.addEventListener('abort', () => this.stop())
    return this.#prepared
  }

  stop(): void {
    this.#work.stop()
  }
}
