/** What the answers to a prompt have used, as the protocol counts it. */
import type { Message } from '../../../protocol/message/message.js'
import type { SessionEvent } from './updates.js'

/** Of the additions to the protocol that are not stable yet. */
export interface Usage {
  readonly totalTokens: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly thoughtTokens: number
  readonly cachedReadTokens: number
  readonly cachedWriteTokens: number
}

export interface Spent {
  see(event: SessionEvent): void
  /** Undefined when no answer has told what it used. */
  usage(): Usage | undefined
}

type Tokens = Extract<Message['info'], { role: 'assistant' }>['tokens']

/** An answer is told of more than once; what it was told to have used last counts. */
export function countSpent(sessionId: string): Spent {
  const answers = new Map<string, Tokens>()
  return {
    see(event) {
      if (event.type !== 'message.updated' || event.data.sessionID !== sessionId) return
      const { info } = event.data
      if (info.role === 'assistant') answers.set(info.id, info.tokens)
    },
    usage() {
      const all = [...answers.values()]
      const sum = (of: (tokens: Tokens) => number) => all.reduce((total, tokens) => total + of(tokens), 0)
      const used = {
        inputTokens: sum(({ input }) => input),
        outputTokens: sum(({ output }) => output),
        thoughtTokens: sum(({ reasoning }) => reasoning),
        cachedReadTokens: sum(({ cache }) => cache.read),
        cachedWriteTokens: sum(({ cache }) => cache.write),
      }
      const totalTokens = Object.values(used).reduce((total, tokens) => total + tokens, 0)
      return totalTokens === 0 ? undefined : { totalTokens, ...used }
    },
  }
}
