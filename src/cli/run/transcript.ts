/**
 * What a person sees of one prompt, computed from the events of its session. Pure: events in, lines out.
 *
 * I1 Nothing is shown before the prompt itself has been stored; what an earlier run still says is not ours.
 * I2 Text is shown once: deltas extend what was shown of a part, snapshots add what is missing (after a resumed stream).
 * I3 The end is `idle` of this session after I1, or an error or deletion of the session (sessions-events §11.13).
 */
import type { KnownEvent } from './read-event.js'
import type { PermissionRequest, QuestionRequest } from '../../protocol/interaction/interaction.js'
import type { MessageInfo, Part, ToolPart } from '../../protocol/message/message.js'
import type { SessionStatus } from '../../protocol/session/session.js'
import { toolLine } from './tool-line.js'

export type Line =
  | { readonly type: 'text'; readonly text: string }
  /** The text so far is finished, or is withdrawn because the step is tried again. */
  | { readonly type: 'break' }
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'error'; readonly text: string }
  | { readonly type: 'permission'; readonly request: PermissionRequest }
  | { readonly type: 'question'; readonly request: QuestionRequest }
  | { readonly type: 'settled'; readonly requestId: string }
  | { readonly type: 'end'; readonly failed: boolean }

export interface Transcript {
  /** What to show for the next event, in order. */
  accept(event: KnownEvent): readonly Line[]
}

/** A transcript of the prompt that was submitted as `messageId` in `sessionId`. */
export function createTranscript(sessionId: string, messageId: string): Transcript {
  let started = false
  const answers = new Set<string>()
  /** Characters shown of each text part, and the message it belongs to. */
  const shown = new Map<string, { messageId: string; length: number }>()
  /** Part id of the newest step-start of each message. */
  const steps = new Map<string, string>()
  const toolStates = new Map<string, string>()
  const problems = new Set<string>()
  const asked = new Set<string>()

  return { accept }

  function accept(event: KnownEvent): readonly Line[] {
    switch (event.type) {
      case 'permission.asked':
        return isNew(event.data.id) ? [{ type: 'permission', request: event.data }] : []
      case 'question.asked':
        return isNew(event.data.id) ? [{ type: 'question', request: event.data }] : []
      case 'permission.replied':
      case 'question.replied':
      case 'question.rejected':
        return [{ type: 'settled', requestId: event.data.requestID }]
      case 'message.updated':
        return event.data.sessionID === sessionId ? onMessage(event.data.info) : []
      case 'message.part.delta':
        return event.data.sessionID === sessionId && event.data.partType === 'text' ? onDelta(event.data) : []
      case 'message.part.updated':
        return event.data.sessionID === sessionId ? onPart(event.data.part) : []
      case 'session.status':
        return event.data.sessionID === sessionId ? onStatus(event.data.status) : []
      case 'session.error':
        if (event.data.sessionID !== sessionId) return []
        started = true
        return problem(event.data.error.message)
      case 'session.deleted':
        return event.data.sessionID === sessionId
          ? [
              { type: 'error', text: 'the session was deleted' },
              { type: 'end', failed: true },
            ]
          : []
      default:
        return []
    }
  }

  /** Whether a request of ours is told for the first time. */
  function isNew(requestId: string): boolean {
    if (!started || asked.has(requestId)) return false
    asked.add(requestId)
    return true
  }

  function onMessage(info: MessageInfo): readonly Line[] {
    if (info.role === 'user') {
      if (info.id === messageId) started = true
      return []
    }
    if (!started) return []
    // The conversation is compacted between two steps: nothing of that is an answer.
    if (info.mode === 'compaction')
      return info.time.completed === undefined ? [{ type: 'note', text: 'The conversation is being compacted.' }] : []
    answers.add(info.id)
    return info.error === undefined ? [] : problem(info.error.message)
  }

  function problem(message: string): readonly Line[] {
    if (problems.has(message)) return []
    problems.add(message)
    return [{ type: 'break' }, { type: 'error', text: message }]
  }

  function onDelta(data: { readonly messageID: string; readonly partID: string; readonly delta: string }): readonly Line[] {
    if (!answers.has(data.messageID) || data.delta === '') return []
    const before = shown.get(data.partID)?.length ?? 0
    shown.set(data.partID, { messageId: data.messageID, length: before + data.delta.length })
    return [{ type: 'text', text: data.delta }]
  }

  function onPart(part: Part): readonly Line[] {
    if (!answers.has(part.messageId)) return []
    if (part.type === 'step-start') return onStep(part.messageId, part.id)
    if (part.type === 'tool') return onTool(part)
    if (part.type !== 'text' || part.synthetic === true) return []
    const before = shown.get(part.id)?.length ?? 0
    const rest = part.text.slice(before)
    if (rest !== '') shown.set(part.id, { messageId: part.messageId, length: part.text.length })
    const closed = part.time?.end !== undefined && part.text !== ''
    return [...(rest === '' ? [] : [{ type: 'text', text: rest } as const]), ...(closed ? [{ type: 'break' } as const] : [])]
  }

  /** Another step-start in the same message is a retry: the parts of the message begin again (sessions-events §4.12). */
  function onStep(message: string, step: string): readonly Line[] {
    const again = steps.has(message) && steps.get(message) !== step
    steps.set(message, step)
    if (!again) return []
    for (const [id, part] of shown) if (part.messageId === message) shown.delete(id)
    return [{ type: 'break' }]
  }

  function onTool(part: ToolPart): readonly Line[] {
    if (toolStates.get(part.callId) === part.state.status) return []
    toolStates.set(part.callId, part.state.status)
    const text = toolLine(part)
    return text === undefined ? [] : [{ type: 'break' }, { type: 'note', text }]
  }

  function onStatus(status: SessionStatus): readonly Line[] {
    if (!started) return []
    if (status.type === 'retry')
      return [{ type: 'break' }, { type: 'note', text: `retrying (${status.attempt ?? 1}): ${status.message ?? ''}` }]
    return status.type === 'idle' ? [{ type: 'break' }, { type: 'end', failed: problems.size > 0 }] : []
  }
}
