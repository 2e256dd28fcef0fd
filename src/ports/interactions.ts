/** What waits for a person, what was allowed for good, and what would be decided: as HTTP sees it. */
import type { Caller } from '../protocol/caller.js'
import type { Explanation } from '../protocol/interaction/explanation.js'
import type {
  PermissionOutcome,
  PermissionReply,
  PermissionRequest,
  QuestionOutcome,
  QuestionReply,
  QuestionRequest,
  RememberedAnswer,
} from '../protocol/interaction/interaction.js'

/** What is to be explained: a line of the shell, or a permission; and as whom. */
export interface ExplainQuery {
  readonly command?: string | undefined
  readonly permission?: string | undefined
  readonly pattern?: string | undefined
  readonly agent?: string | undefined
  readonly sessionId?: string | undefined
}

export interface Interactions {
  permissions(caller: Caller, sessionId: string | undefined): PermissionRequest[]
  questions(caller: Caller, sessionId: string | undefined): QuestionRequest[]
  /** One request, settled or not, and which answer counted; throws `resource.not_found`. */
  permission(requestId: string): PermissionOutcome
  question(requestId: string): QuestionOutcome
  /** "Always" answers that are remembered where a directory belongs to. */
  remembered(caller: Caller, directory: string): Promise<RememberedAnswer[]>
  /** What would be decided, and by what; throws `request.invalid` for neither a command nor a permission. */
  explain(caller: Caller, directory: string, query: ExplainQuery, signal: AbortSignal): Promise<Explanation>
  /** Takes one back; throws `resource.not_found`. */
  forget(caller: Caller, directory: string, id: string): Promise<true>
  /** `caller`: whose answer it is said to be. */
  replyPermission(requestId: string, reply: PermissionReply, caller?: Pick<Caller, 'subject'>): true
  replyQuestion(requestId: string, reply: QuestionReply, caller?: Pick<Caller, 'subject'>): true
  rejectQuestion(requestId: string, caller?: Pick<Caller, 'subject'>): true
  /** Session that owns a request id, pending or settled; undefined when unknown. */
  owner(requestId: string): string | undefined
}
