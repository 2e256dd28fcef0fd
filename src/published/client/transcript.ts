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
  /** The run that it is part of; undefined before I1, and where the server does not tell. */
  readonly runId: string | undefined
  /** The newest message of the answer; undefined when there is none. */
  readonly answerId: string | undefined
  readonly problem: { readonly message: string; readonly interrupted: boolean } | undefined
}

/** One prompt, as far as the events have told. */
interface Telling {
  readonly sessionId: string
  readonly messageId: string
  readonly withReply: boolean
  readonly attends: boolean
  started: boolean
  ended: boolean
  answerId: string | undefined
  runId: string | undefined
  problem: Transcript['problem']
  /** Messages of the answer; true = finished. */
  readonly answers: Map<string, boolean>
  /** Characters told of each text, and where it belongs. */
  readonly told: Map<string, { readonly messageId: string; readonly length: number }>
  /** The newest step of each message. */
  readonly steps: Map<string, string>
  readonly tools: Map<string, string>
  readonly asked: Set<string>
}

/** `attends`: requests are told before I1, too. */
export function createTranscript(sessionId: string, messageId: string, withReply: boolean, attends = false): Transcript {
  const telling: Telling = {
    sessionId,
    messageId,
    withReply,
    attends,
    started: false,
    ended: false,
    answerId: undefined,
    runId: undefined,
    problem: undefined,
    answers: new Map(),
    told: new Map(),
    steps: new Map(),
    tools: new Map(),
    asked: new Set(),
  }
  return {
    accept: (event) => accept(telling, event),
    get started() {
      return telling.started
    },
    get ended() {
      return telling.ended
    },
    get runId() {
      return telling.runId
    },
    get answerId() {
      return telling.answerId
    },
    get problem() {
      return telling.problem
    },
  }
}

function accept(telling: Telling, event: SvcEvent | Gap): readonly Told[] {
  switch (event.type) {
    case 'permission.asked':
      return ask(telling, { type: 'permission', request: event.data })
    case 'question.asked':
      return ask(telling, { type: 'question', request: event.data })
    case 'permission.replied':
    case 'question.replied':
    case 'question.rejected':
      return telling.asked.has(event.data.requestID) ? [{ type: 'settled', requestId: event.data.requestID }] : []
    case 'message.updated':
      return event.data.sessionID === telling.sessionId ? onMessage(telling, event.data.info) : []
    case 'message.part.delta':
      return event.data.sessionID === telling.sessionId && event.data.field === 'text' ? onDelta(telling, event.data) : []
    case 'message.part.updated':
      return event.data.sessionID === telling.sessionId ? onPart(telling, event.data.part) : []
    case 'session.status':
      return event.data.sessionID === telling.sessionId ? onStatus(telling, event.data.status) : []
    case 'session.error':
      if (event.data.sessionID === telling.sessionId) onError(telling, event.data.error)
      return []
    case 'session.queue.updated':
      if (telling.started || event.data.messageIDs?.includes(telling.messageId) !== true) return []
      telling.problem = event.data.action === 'hold' ? HELD : TAKEN_BACK
      telling.ended = true
      return []
    case 'session.deleted':
      if (event.data.sessionID !== telling.sessionId) return []
      telling.problem = { message: 'The session was deleted.', interrupted: true }
      telling.ended = true
      return []
    default:
      return []
  }
}

function ask(
  telling: Telling,
  asking:
    | { readonly type: 'permission'; readonly request: PermissionRequest }
    | { readonly type: 'question'; readonly request: QuestionRequest },
): readonly Told[] {
  if ((!telling.started && !telling.attends) || telling.asked.has(asking.request.id)) return []
  telling.asked.add(asking.request.id)
  return [asking]
}

function onMessage(telling: Telling, info: MessageInfo): readonly Told[] {
  if (info.role === 'user') {
    if (info.id !== telling.messageId) return []
    telling.started = true
    if (!telling.withReply) telling.ended = true
    return []
  }
  if (!telling.started) return []
  // The conversation is compacted between two steps: nothing of that is an answer.
  if (info.mode === 'compaction') return info.time.completed === undefined ? [{ type: 'compacting', messageId: info.id }] : []
  telling.answerId = info.id
  // What is read again says so before a stream that began earlier has told of the beginning.
  telling.answers.set(info.id, telling.answers.get(info.id) === true || info.time.completed !== undefined)
  if (info.error !== undefined) telling.problem = { message: info.error.message, interrupted: info.error.interrupted === true }
  // A run that goes on after a step that failed has got over it.
  else if (info.time.completed === undefined) telling.problem = undefined
  return []
}

/** Of the run, or of a prompt that could not begin one. */
function onError(
  telling: Telling,
  { message, details }: { readonly message: string; readonly details?: Readonly<Record<string, unknown>> },
): void {
  const refused = details?.['messageId']
  if (refused === undefined ? !telling.started : refused !== telling.messageId) return
  telling.problem = { message, interrupted: false }
  if (refused !== undefined) telling.ended = true
}

function onDelta(
  telling: Telling,
  data: {
    readonly messageID: string
    readonly partID: string
    readonly partType: string
    readonly delta: string
  },
): readonly Told[] {
  const { messageID, partID, partType, delta } = data
  if (telling.answers.get(messageID) !== false || delta === '' || (partType !== 'text' && partType !== 'reasoning')) return []
  telling.told.set(partID, { messageId: messageID, length: (telling.told.get(partID)?.length ?? 0) + delta.length })
  return [{ type: partType, messageId: messageID, partId: partID, delta }]
}

function onPart(telling: Telling, part: Part): readonly Told[] {
  if (!telling.answers.has(part.messageId)) return []
  if (part.type === 'step-start') return onStep(telling, part.messageId, part.id)
  if (part.type === 'tool') return onTool(telling, part)
  if ((part.type !== 'text' && part.type !== 'reasoning') || (part.type === 'text' && part.synthetic === true)) return []
  const rest = part.text.slice(telling.told.get(part.id)?.length ?? 0)
  if (rest === '') return []
  telling.told.set(part.id, { messageId: part.messageId, length: part.text.length })
  return [{ type: part.type, messageId: part.messageId, partId: part.id, delta: rest }]
}

/** Another step-start in the same message is a retry: the parts of the message begin again (sessions-events §4.12). */
function onStep(telling: Telling, message: string, step: string): readonly Told[] {
  const again = telling.steps.has(message) && telling.steps.get(message) !== step
  telling.steps.set(message, step)
  if (!again) return []
  let said = false
  for (const [id, part] of telling.told) {
    if (part.messageId !== message) continue
    telling.told.delete(id)
    said = true
  }
  return said ? [{ type: 'withdrawn', messageId: message }] : []
}

function onTool(telling: Telling, part: ToolPart): readonly Told[] {
  const text = JSON.stringify([part.state, part.metadata])
  if (telling.tools.get(part.id) === text) return []
  telling.tools.set(part.id, text)
  return [{ type: 'tool', part }]
}

function onStatus(telling: Telling, status: SessionStatus): readonly Told[] {
  if (!telling.started) return []
  if (status.type === 'retry')
    return [
      {
        type: 'retry',
        attempt: status.attempt ?? 1,
        ...(status.attempts !== undefined && { attempts: status.attempts }),
        message: status.message ?? '',
        ...(status.next !== undefined && { next: status.next }),
      },
    ]
  telling.runId ??= status.runID
  if (status.type === 'idle' || (status.runID !== undefined && status.runID !== telling.runId)) telling.ended = true
  return []
}
