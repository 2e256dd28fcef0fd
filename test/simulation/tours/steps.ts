/** Steps of which tours are made. */
import type { History, Play, Step } from '../history.js'

export const create: Step = { do: 'create' }
export const restart: Step = { do: 'restart' }
export const kill: Step = { do: 'die', how: 'kill', torn: 1 }
export const full: Step = { do: 'fill', how: 'ENOSPC' }
export const broken: Step = { do: 'fill', how: 'EIO' }

export const wait = (ms = 1000): Step => ({ do: 'wait', ms })
export const slow = (ms: number): Step => ({ do: 'slow', ms })
export const abort = (session = 0): Step => ({ do: 'abort', session, queue: 'go-on' })
export const compact: Step = { do: 'compact', session: 0 }
export const release = (how: 'finishes' | 'fails' = 'finishes'): Step => ({ do: 'release', held: 0, how })

/** `where`: a machine and its state, as charts call them. */
export function when(where: string, ...steps: History): Step {
  const [machine = '', state = ''] = where.split(': ')
  return { do: 'when', machine, state, steps }
}

export interface Asked {
  readonly session?: number
  readonly delivery?: 'steer' | 'queue'
  readonly characters?: number
  readonly summary?: readonly Play[]
}

export function prompt(name: number, plays: readonly Play[] = [], { session = 0, delivery = 'queue', ...more }: Asked = {}): Step {
  return { do: 'prompt', session, name, delivery, plays, ...more }
}

export const says: Play = { as: 'says', words: 1 }
export const fills: Play = { as: 'fills', words: 1 }
export const hangs: Play = { as: 'hangs', words: 1 }
export const fails: Play = { as: 'fails', words: 1, retryable: false }
export const retried: Play = { as: 'fails', words: 1, retryable: true }
export const overflows: Play = { as: 'overflows', words: 0 }
export const calls = (...tools: Extract<Play, { readonly as: 'calls' }>['tools']): Play => ({ as: 'calls', words: 0, tools })
