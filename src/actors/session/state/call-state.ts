/** What a conversation holds of one tool call. */
import type { Message } from '../../../protocol/message/message.js'

/** Its tool, input and outcome; undefined when no message has such a call. */
export function callState(messages: readonly Message[], callId: string): Readonly<Record<string, unknown>> | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    for (const part of messages[index]?.parts ?? [])
      if (part.type === 'tool' && part.callId === callId) return { tool: part.tool, ...part.state }
  }
  return undefined
}
