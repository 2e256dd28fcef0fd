/** Messages rebuilt from events alone, as a client without REST that merges parts by their ids would see them (sessions-events §11). */
import type { Message, Part } from '../../../src/protocol/message/message.js'
import type { AnyEvent } from './stream.js'

/** The messages of one session after these events, oldest first. Deltas are added to the part they belong to. */
export function rebuild(events: readonly AnyEvent[], sessionId: string): Message[] {
  const transcripts = createTranscripts()
  for (const event of events) transcripts.see(event)
  return transcripts.messages(sessionId)
}

export interface Transcripts {
  see(event: AnyEvent): void
  /** Oldest first. */
  messages(sessionId: string): Message[]
}

export function createTranscripts(): Transcripts {
  const messages = new Map<string, { info: Message['info']; parts: Map<string, Part> }>()
  return {
    see(event) {
      if (event.type === 'message.updated') {
        const { info } = event.data
        messages.set(info.id, { info, parts: messages.get(info.id)?.parts ?? new Map<string, Part>() })
      } else if (event.type === 'message.removed') {
        messages.delete(event.data.messageID)
      } else if (event.type === 'message.part.updated') {
        const part = plainPart(event.data.part)
        messages.get(part.messageId)?.parts.set(part.id, part)
      } else if (event.type === 'message.part.removed') {
        messages.get(event.data.messageID)?.parts.delete(event.data.partID)
      } else if (event.type === 'message.part.delta') {
        const { messageID, partID, delta } = event.data
        const part = messages.get(messageID)?.parts.get(partID)
        if (part?.type !== 'text' && part?.type !== 'reasoning') return
        messages.get(messageID)?.parts.set(partID, { ...part, text: part.text + delta })
      }
    },
    messages: (sessionId) =>
      [...messages.values()]
        .filter(({ info }) => info.sessionId === sessionId)
        .map(({ info, parts }) => ({ info, parts: [...parts.values()] })),
  }
}

/** Only what a later reader of the log is shown too: no deltas, no calls whose arguments are still arriving. */
export function durable(events: readonly AnyEvent[]): AnyEvent[] {
  return events.filter((event) => {
    if (event.type === 'message.part.delta') return false
    return event.type !== 'message.part.updated' || event.data.part.type !== 'tool' || event.data.part.state.status !== 'pending'
  })
}

/** The stored part: events of user parts also say whose they are (sessions-events §4.9). */
function plainPart(part: Part): Part {
  const { role: _role, author: _author, system: _system, ...stored } = part as Part & { role?: unknown; author?: unknown; system?: unknown }
  return stored
}

/** Text streamed into a message. */
export function deltasOf(events: readonly AnyEvent[], messageId: string): string {
  return events
    .flatMap((event) =>
      event.type === 'message.part.delta' && event.data.messageID === messageId && event.data.partType === 'text' ? [event.data.delta] : [],
    )
    .join('')
}

export function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

export function toolParts(messages: readonly Message[]): Extract<Part, { type: 'tool' }>[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part] : [])))
}

/** The states one tool call was seen in, without repeats in a row. */
export function statesOf(events: readonly AnyEvent[], callId: string): string[] {
  const states = events.flatMap((event) =>
    event.type === 'message.part.updated' && event.data.part.type === 'tool' && event.data.part.callId === callId
      ? [event.data.part.state.status]
      : [],
  )
  return states.filter((state, index) => state !== states[index - 1])
}

/** Parts and messages that say they are still under way. */
export function unfinished(messages: readonly Message[]): string[] {
  return messages.flatMap(({ info, parts }) => {
    if (info.role !== 'assistant') return []
    const open = parts.flatMap((part) => {
      if (part.type === 'tool') return part.state.status === 'pending' || part.state.status === 'running' ? [part.id] : []
      if (part.type === 'text' || part.type === 'reasoning') return part.time?.end === undefined ? [part.id] : []
      return []
    })
    const finish = parts.filter((part) => part.type === 'step-finish').length
    return [...open, ...(info.time.completed === undefined || finish !== 1 ? [info.id] : [])]
  })
}
