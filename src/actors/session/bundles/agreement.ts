/** Whether what a bundle says agrees with what it says elsewhere; messages come oldest first (sessions-events §2.15). */
import type { Message } from '../../../protocol/message/message.js'

export interface Agreement {
  message(message: Message, at: string): void
  /** A prompt that waits, by the id it has there. */
  prompt(messageId: string | undefined): void
  /** All of it was seen; its session is this. */
  session(id: string): void
}

/** `contradict` makes the error. Marked as such in the bundle, an answer whose question was deleted stands alone. */
export function createAgreement(contradict: (problem: string) => Error): Agreement {
  const messages = new Set<string>()
  const questions = new Set<string>()
  const parts = new Set<string>()
  const prompts = new Set<string>()
  let sessionId: string | undefined

  function once(known: Set<string>, id: string, what: string): void {
    if (known.has(id)) throw contradict(`has ${what} twice`)
    known.add(id)
  }

  return {
    message({ info, parts: own, questionDeleted }, at) {
      once(messages, info.id, `the message "${info.id}"`)
      sessionId ??= info.sessionId
      if (info.sessionId !== sessionId) throw contradict(`has a message of another session at ${at}`)
      if (info.role === 'user') questions.add(info.id)
      else if (!questions.has(info.parentId) && questionDeleted !== true)
        throw contradict(`has an answer at ${at} without the question it answers, "${info.parentId}", before it`)
      for (const part of own) {
        once(parts, part.id, `the part "${part.id}"`)
        if (part.messageId !== info.id || part.sessionId !== info.sessionId) throw contradict(`has a part of another message at ${at}`)
      }
    },
    prompt(messageId) {
      if (messageId !== undefined) once(prompts, messageId, `the queued prompt "${messageId}"`)
    },
    session(id) {
      if (sessionId !== undefined && sessionId !== id) throw contradict(`has the session "${id}" with messages of "${sessionId}"`)
      const both = [...prompts].find((messageId) => messages.has(messageId))
      if (both !== undefined) throw contradict(`has the message "${both}", which still waits in its queue`)
    },
  }
}
