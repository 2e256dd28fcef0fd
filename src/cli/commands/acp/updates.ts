/** What happens in a session, as an editor is told of it. */
import type { AgentContext, PlanEntry, SessionUpdate } from '@agentclientprotocol/sdk'
import type { Message, Part, ToolPart } from '../../../protocol/message/message.js'
import type { PromptEvent, PromptOptions } from '../../../published/client/client-types.js'
import { createCommandTerminals } from './command-terminals.js'
import { SHOWN, toolCall, toolCallUpdate } from './tool-updates.js'

export interface Telling {
  readonly sessionId: string
  readonly cwd: string
  /** Tokens that fit the model that answers; 0 = not known. */
  window(): number
  /** Whether the editor shows commands as terminals. */
  readonly showsTerminals: boolean
}

/** As `svc/client` tells them. */
export type SessionEvent = Parameters<NonNullable<PromptOptions['onEvent']>>[0]

export interface Teller {
  /** Of the prompt that is followed. */
  event(event: PromptEvent): void
  /** Of the session, whatever else happens in it. */
  aside(event: SessionEvent): void
  /** A stored message, told as if it were said now. */
  message(message: Message): void
  send(update: SessionUpdate): void
}

const text = (said: string) => ({ type: 'text' as const, text: said })

export function createTeller(editor: AgentContext, { sessionId, cwd, window, showsTerminals }: Telling): Teller {
  const send = (update: SessionUpdate): void => {
    // An editor that is gone closes the connection, which ends everything.
    editor.notify('session/update', { sessionId, update }).catch(() => undefined)
  }
  const notice = (severity: 'info' | 'warning', title: string): void => send({ sessionUpdate: 'notice', severity, title })
  const tool = createToolTelling(send, cwd, showsTerminals)
  const usage = ({ info }: Message): void => {
    if (info.role !== 'assistant') return
    const { input, output, cache, reasoning } = info.tokens
    const used = input + cache.read + cache.write + output + reasoning
    const size = window()
    if (used > 0 && size > 0)
      send({ sessionUpdate: 'usage_update', used, size, ...(info.cost > 0 && { cost: { amount: info.cost, currency: 'USD' } }) })
  }

  function part(role: 'user' | 'assistant', messageId: string, each: Part): void {
    if (each.type === 'tool') return tool(each)
    if (each.type === 'text' && each.text !== '') {
      const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk'
      send({ sessionUpdate, messageId, content: text(each.text) })
    } else if (each.type === 'reasoning' && each.text !== '') {
      send({ sessionUpdate: 'agent_thought_chunk', messageId, content: text(each.text) })
    } else if (each.type === 'file') {
      const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(each.url) ?? []
      const name = each.filename ?? each.mime
      const content =
        data !== undefined && each.mime.startsWith('image/')
          ? { type: 'image' as const, data, mimeType: each.mime }
          : { type: 'resource_link' as const, name, uri: data === undefined ? each.url : `attachment:${encodeURIComponent(name)}` }
      send({ sessionUpdate: role === 'user' ? 'user_message_chunk' : 'agent_message_chunk', messageId, content })
    }
  }

  return {
    send,
    message(message) {
      const { info } = message
      for (const each of message.parts) part(info.role, info.id, each)
      usage(message)
    },
    event(event) {
      switch (event.type) {
        case 'text':
          return send({ sessionUpdate: 'agent_message_chunk', messageId: event.messageId, content: text(event.delta) })
        case 'reasoning':
          return send({ sessionUpdate: 'agent_thought_chunk', messageId: event.messageId, content: text(event.delta) })
        case 'tool':
          return tool(event.part)
        case 'withdrawn':
          return notice('warning', 'The model is asked again: what it said last no longer counts.')
        case 'retry':
          return notice('warning', `The model is asked again (attempt ${event.attempt}): ${event.message}`)
        case 'gap':
          return notice('warning', 'Some events were missed; what the server keeps of the answer follows.')
        case 'end':
          if (event.message !== undefined) usage(event.message)
          return undefined
        // Told as events of the session, or put to the person.
        case 'compacting':
        case 'permission':
        case 'question':
        case 'settled':
      }
    },
    aside(event) {
      if (event.type === 'gap' || !('sessionID' in event.data) || event.data.sessionID !== sessionId) return
      switch (event.type) {
        case 'todo.updated':
          return send({ sessionUpdate: 'plan', entries: event.data.todos.map(entryOf) })
        case 'session.updated':
          return send({ sessionUpdate: 'session_info_update', title: event.data.info.title })
        // The protocol has no words for these two.
        case 'session.status':
          return send({ sessionUpdate: 'session_info_update', _meta: { svc: { status: event.data.status } } })
        case 'session.queue.updated':
          return send({ sessionUpdate: 'session_info_update', _meta: { svc: { queue: event.data.queue } } })
        case 'session.next.compaction.started':
          return send({ sessionUpdate: 'compaction_update', compactionId: event.data.messageID, status: 'in_progress' })
        case 'session.next.compaction.ended': {
          const { messageID, status } = event.data
          if (messageID === undefined) return undefined
          return send({ sessionUpdate: 'compaction_update', compactionId: messageID, status: status === 'error' ? 'failed' : 'completed' })
        }
        default:
          return undefined
      }
    },
  }
}

/** Each call is told of once, and then by what changes of it. */
function createToolTelling(send: (update: SessionUpdate) => void, cwd: string, showsTerminals: boolean): (part: ToolPart) => void {
  /** Calls that the editor knows. */
  const known = new Set<string>()
  const terminals = showsTerminals ? createCommandTerminals(SHOWN) : undefined
  return (part) => {
    const isKnown = known.has(part.callId)
    if (!isKnown) {
      known.add(part.callId)
      const opened = terminals?.open(part, cwd)
      send({ sessionUpdate: 'tool_call', ...toolCall(part, cwd), ...opened })
      if (opened === undefined) return
    }
    // What a terminal shows comes in updates only.
    const shown = terminals?.update(part)
    if (isKnown || shown?._meta !== undefined) send({ sessionUpdate: 'tool_call_update', ...toolCallUpdate(part, cwd), ...shown })
  }
}

function entryOf({
  content,
  status,
  priority,
}: {
  readonly content: string
  readonly status: string
  readonly priority: string
}): PlanEntry {
  const level = priority === 'high' || priority === 'low' ? priority : 'medium'
  const state = status === 'pending' || status === 'in_progress' ? status : 'completed'
  return { content, priority: level, status: state }
}
