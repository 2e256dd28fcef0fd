/**
 * What happens to one prompt, computed from the events of its session. Pure: events in, prompt events out.
 *
 * I1 Nothing is told before the prompt itself is stored; what an earlier run still says is not ours.
 * I2 Text is told once: deltas extend what was told of a part, snapshots add what is missing of it.
 * I3 Nothing is added to a part or message that is finished.
 * I4 The end is `idle` of the session after I1, the run of another prompt, the deletion of the session, or for a prompt without reply
 *    its being stored (sessions-events §11.13). One that waits has ended when it is removed or held.
 */
import type { PermissionRequest, QuestionRequest } from '../../protocol/interaction/interaction.js'
import type { MessageInfo, Part, ToolPart } from '../../protocol/message/message.js'
import type { SessionStatus } from '../../protocol/session/session.js'
import type { Gap, PromptEvent } from './client-types.js'
import type { SvcEvent } from './operation-types.js'

export const TAKEN_BACK = { message: 'The prompt was taken back before it began.', interrupted: true }
const HELD = { message: 'The prompt is held until somebody releases it.', interrupted: true }

export type Told = Exclude<PromptEvent, { type: 'end' }>

export interface Transcript {
  accept(event: SvcEvent | Gap): readonly Told[]
  /** The prompt is stored. */
  readonly started: boolean
  /** The run is over. */
  readonly ended: boolean
  /** The newest message of the answer; undefined when there is none. */
  readonly answerId: string | undefined
  readonly problem: { readonly message: string; readonly interrupted: boolean } | undefined
}

/** `attends`: requests are told before I1, too. */
export function createTranscript(sessionId: string, messageId: string, withReply: boolean, attends = false): Transcript {
  let started = false
  let ended = false
  let answerId: string | undefined
  let runId: string | undefined
  let problem: Transcript['problem']
  /** Messages of the answer; true = finished. */
  const answers = new Map<string, boolean>()
  /** Characters told of each text, and where it belongs. */
  const told = new Map<string, { readonly messageId: string; readonly length: number }>()
  /** The newest step of each message. */
  const steps = new Map<string, string>()
  const tools = new Map<string, string>()
  const asked = new Set<string>()

  function accept(event: SvcEvent | Gap): readonly Told[] {
    switch (event.type) {
      case 'permission.asked':
        return ask({ type: 'permission', request: event.data })
      case 'question.asked':
        return ask({ type: 'question', request: event.data })
      case 'permission.replied':
      case 'question.replied':
      case 'question.rejected':
        return asked.has(event.data.requestID) ? [{ type: 'settled', requestId: event.data.requestID }] : []
      case 'message.updated':
        return event.data.sessionID === sessionId ? onMessage(event.data.info) : []
      case 'message.part.delta':
        return event.data.sessionID === sessionId && event.data.field === 'text' ? onDelta(event.data) : []
      case 'message.part.updated':
        return event.data.sessionID === sessionId ? onPart(event.data.part) : []
      case 'session.status':
        return event.data.sessionID === sessionId ? onStatus(event.data.status) : []
      case 'session.error':
        if (event.data.sessionID === sessionId) onError(event.data.error)
        return []
      case 'session.queue.updated':
        if (started || event.data.messageIDs?.includes(messageId) !== true) return []
        problem = event.data.action === 'hold' ? HELD : TAKEN_BACK
        ended = true
        return []
      case 'session.deleted':
        if (event.data.sessionID !== sessionId) return []
        problem = { message: 'The session was deleted.', interrupted: true }
        ended = true
        return []
      default:
        return []
    }
  }

  function ask(
    asking:
      | { readonly type: 'permission'; readonly request: PermissionRequest }
      | { readonly type: 'question'; readonly request: QuestionRequest },
  ): readonly Told[] {
    if ((!started && !attends) || asked.has(asking.request.id)) return []
    asked.add(asking.request.id)
    return [asking]
  }

  function onMessage(info: MessageInfo): readonly Told[] {
    if (info.role === 'user') {
      if (info.id !== messageId) return []
      started = true
      if (!withReply) ended = true
      return []
    }
    if (!started) return []
    // The conversation is compacted between two steps: nothing of that is an answer.
    if (info.mode === 'compaction') return info.time.completed === undefined ? [{ type: 'compacting', messageId: info.id }] : []
    answerId = info.id
    // What is read again says so before a stream that began earlier has told of the beginning.
    answers.set(info.id, answers.get(info.id) === true || info.time.completed !== undefined)
    if (info.error !== undefined) problem = { message: info.error.message, interrupted: info.error.interrupted === true }
    // A run that goes on after a step that failed has got over it.
    else if (info.time.completed === undefined) problem = undefined
    return []
  }

  /** Of the run, or of a prompt that could not begin one. */
  function onError({ message, details }: { readonly message: string; readonly details?: Readonly<Record<string, unknown>> }): void {
    const refused = details?.['messageId']
    if (refused === undefined ? !started : refused !== messageId) return
    problem = { message, interrupted: false }
    if (refused !== undefined) ended = true
  }

  function onDelta(data: {
    readonly messageID: string
    readonly partID: string
    readonly partType: string
    readonly delta: string
  }): readonly Told[] {
    const { messageID, partID, partType, delta } = data
    if (answers.get(messageID) !== false || delta === '' || (partType !== 'text' && partType !== 'reasoning')) return []
    told.set(partID, { messageId: messageID, length: (told.get(partID)?.length ?? 0) + delta.length })
    return [{ type: partType, messageId: messageID, partId: partID, delta }]
  }

  function onPart(part: Part): readonly Told[] {
    if (!answers.has(part.messageId)) return []
    if (part.type === 'step-start') return onStep(part.messageId, part.id)
    if (part.type === 'tool') return onTool(part)
    if ((part.type !== 'text' && part.type !== 'reasoning') || (part.type === 'text' && part.synthetic === true)) return []
    const rest = part.text.slice(told.get(part.id)?.length ?? 0)
    if (rest === '') return []
    told.set(part.id, { messageId: part.messageId, length: part.text.length })
    return [{ type: part.type, messageId: part.messageId, partId: part.id, delta: rest }]
  }

  /** Another step-start in the same message is a retry: the parts of the message begin again (sessions-events §4.12). */
  function onStep(message: string, step: string): readonly Told[] {
    const again = steps.has(message) && steps.get(message) !== step
    steps.set(message, step)
    if (!again) return []
    let said = false
    for (const [id, part] of told) {
      if (part.messageId !== message) continue
      told.delete(id)
      said = true
    }
    return said ? [{ type: 'withdrawn', messageId: message }] : []
  }

  function onTool(part: ToolPart): readonly Told[] {
    const text = JSON.stringify([part.state, part.metadata])
    if (tools.get(part.id) === text) return []
    tools.set(part.id, text)
    return [{ type: 'tool', part }]
  }

  function onStatus(status: SessionStatus): readonly Told[] {
    if (!started) return []
    if (status.type === 'retry')
      return [
        {
          type: 'retry',
          attempt: status.attempt ?? 1,
          message: status.message ?? '',
          ...(status.next !== undefined && { next: status.next }),
        },
      ]
    runId ??= status.runID
    if (status.type === 'idle' || (status.runID !== undefined && status.runID !== runId)) ended = true
    return []
  }

  return {
    accept,
    get started() {
      return started
    },
    get ended() {
      return ended
    },
    get answerId() {
      return answerId
    },
    get problem() {
      return problem
    },
  }
}
