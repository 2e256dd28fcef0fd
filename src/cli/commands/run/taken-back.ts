/** Prompts that an abort has taken from the queue of a session: what they said is given back to whoever aborted. */
import type { PromptOptions } from '../../../published/client/client-types.js'

type SeenEvent = Parameters<NonNullable<PromptOptions['onEvent']>>[0]

export interface TakenBack {
  see(event: SeenEvent): void
  /** What was taken since the last call, oldest first; a prompt of before this began is known by its first words. */
  texts(): readonly { readonly messageId: string; readonly text: string }[]
}

export function createTakenBack(sessionId: () => string): TakenBack {
  /** Of prompts that wait. */
  const said = new Map<string, string>()
  let taken: { readonly messageId: string; readonly text: string }[] = []

  return {
    see(event) {
      if (event.type === 'session.prompt.admitted' && event.data.sessionID === sessionId()) {
        const { messageId, parts = [] } = event.data.request
        const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
        if (messageId !== undefined) said.set(messageId, text)
      }
      if (event.type !== 'session.queue.updated' || event.data.sessionID !== sessionId()) return
      const { action, messageID, messageIDs = [], queue } = event.data
      if (action === 'dequeue' && messageID !== undefined) said.delete(messageID)
      if (action === 'clear')
        taken.push(...messageIDs.map((messageId) => ({ messageId, text: said.get(messageId) ?? '' })).filter(({ text }) => text !== ''))
      for (const { messageId, text } of queue.items)
        if (messageId !== undefined && text != null && !said.has(messageId)) said.set(messageId, text)
    },
    texts() {
      const all = taken
      taken = []
      return all
    },
  }
}
