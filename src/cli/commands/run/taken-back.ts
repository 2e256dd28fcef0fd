/** Prompts that an abort has taken from the queue of a session: what they said is given back to whoever aborted. */
import type { Client, PromptOptions } from '../../../published/client/client-types.js'

type SeenEvent = Parameters<NonNullable<PromptOptions['onEvent']>>[0]

export interface TakenBack {
  see(event: SeenEvent): void
  /** What was taken since the last call, oldest first; a prompt of before this began is known by its first words. */
  texts(): readonly Taken[]
  /** As `texts`, of what waited when the events ended and neither waits now nor has been taken up: events of its end were not heard. `own`: prompts that tell of themselves. */
  unheard(client: Client, own: ReadonlySet<string>): Promise<readonly Taken[]>
}

interface Taken {
  readonly messageId: string
  readonly text: string
}

export function createTakenBack(sessionId: () => string): TakenBack {
  /** Of prompts that wait. */
  const said = new Map<string, string>()
  let taken: Taken[] = []

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
        for (const messageId of messageIDs) {
          const text = said.get(messageId) ?? ''
          if (text !== '') taken.push({ messageId, text })
          said.delete(messageId)
        }
      for (const { messageId, text } of queue.items)
        if (messageId !== undefined && text != null && !said.has(messageId)) said.set(messageId, text)
    },
    texts() {
      const all = taken
      taken = []
      return all
    },
    async unheard({ sessions }, own) {
      const open = [...said].filter(([messageId]) => !own.has(messageId))
      if (open.length === 0) return []
      const { items } = await sessions.queue.list({ sessionId: sessionId() })
      const waiting = new Set(items.map(({ messageId }) => messageId))
      const isTakenUp = (messageId: string) =>
        sessions.messages.get({ sessionId: sessionId(), messageId }).then(
          () => true,
          () => false,
        )
      const lost: Taken[] = []
      for (const [messageId, text] of open) if (!waiting.has(messageId) && !(await isTakenUp(messageId))) lost.push({ messageId, text })
      return lost
    },
  }
}
