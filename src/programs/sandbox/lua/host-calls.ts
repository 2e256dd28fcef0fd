/** Requests of the script to its host: sent, and waited for with the thread standing still (plugin-protocol §6.3). */
import { LIMITS } from '../../../protocol/limits.js'
import type { Budget } from './budget.js'
import { fieldsOf, fitsFrame, requestFrame } from '../frames.js'
import type { CallHost } from './host-table.js'
import type { Signals } from '../signals.js'
import type { AnswerMessage } from '../thread-messages.js'

export interface HostCallDeps {
  readonly signals: Signals
  readonly budget: Pick<Budget, 'check'>
  /** How long an answer is waited for, ms. */
  readonly patience: number
  /** Milliseconds of a clock that never goes back. */
  now(): number
  send(id: number, frame: string): void
  /** The next answer that has come, without waiting. */
  take(): AnswerMessage | undefined
  /** JSON of the owner, once it is known. */
  owner(): string
}

export function createHostCalls({ signals, budget, patience, now, send, take, owner }: HostCallDeps): CallHost {
  let last = 0

  function answerTo(id: number): string {
    const deadline = now() + patience
    for (;;) {
      const { rung } = signals
      for (let answer = take(); answer !== undefined; answer = take()) if (answer.id === id) return answer.line
      budget.check()
      const left = deadline - now()
      if (left <= 0) throw new Error('host request timed out')
      signals.wait(rung, left)
    }
  }

  return (method, params) => {
    const id = ++last
    const frame = requestFrame(id, method, { params: JSON.stringify(params), owner: owner() })
    if (!fitsFrame(frame)) throw new Error(`the request takes more than the ${LIMITS.plugins.frameBytes} bytes of a frame`)
    budget.check()
    send(id, frame)
    const { result, error } = fieldsOf(JSON.parse(answerTo(id)))
    if (typeof error === 'string') throw new Error(error)
    return result
  }
}
