/** Permission and question requests, replies and rules (http-contract §2.8; sessions-events §8–9). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, ms, sessionQuery } from '../shared.js'
import { Explanation } from './explanation.js'
import { type PermissionRule, RememberedAnswer } from './rules.js'

export { PermissionAction, PermissionRule, RememberedAnswer } from './rules.js'

/** A remembered answer. `exact`: it holds for this very target, whatever characters it has; otherwise for what the pattern matches. */
export interface Approval extends PermissionRule {
  readonly exact?: true
  /** When it was given, in which session and by whom; absent for one of an earlier version. */
  readonly at?: number
  readonly sessionId?: string
  readonly by?: string
}

export const PermissionRequest = z
  .looseObject({
    id: z.string(),
    sessionId: z.string(),
    messageId: z.string(),
    title: z.string(),
    permission: z.string(),
    patterns: z.array(z.string()),
    always: z
      .array(z.string())
      .describe(
        'What `always` remembers: the patterns asked, to the letter. Wider ones to name in the reply stand in `metadata.alwaysPatterns`.',
      ),
    metadata: z.unknown().optional(),
    tool: z.unknown().optional(),
    sourceSessionID: z.string().optional(),
    sourceTitle: z.string().optional(),
    sourceAgent: z.string().optional(),
    parentSessionID: z.string().optional(),
  })
  .meta({ id: 'PermissionRequest' })
export type PermissionRequest = z.infer<typeof PermissionRequest>

const ReplyKind = z.enum(['once', 'always', 'reject'])
type ReplyKind = z.infer<typeof ReplyKind>

export const PermissionReply = z
  .strictObject({
    reply: ReplyKind.optional().describe('The decision. It must be given, here or as `response`, its older name.'),
    response: ReplyKind.optional(),
    message: z.string().max(10_000).optional(),
    alwaysPatterns: z
      .array(z.string())
      .max(100)
      .optional()
      .describe("With `always`: wider patterns to remember as well, of those that the request's `metadata.alwaysPatterns` offers."),
  })
  .meta({ id: 'PermissionReply' })
export type PermissionReply = z.infer<typeof PermissionReply>

export const QuestionRequest = z
  .looseObject({ id: z.string(), sessionId: z.string(), messageId: z.string(), questions: z.array(z.unknown()) })
  .meta({ id: 'QuestionRequest' })
export type QuestionRequest = z.infer<typeof QuestionRequest>

export const QuestionReply = z.strictObject({ answers: z.array(z.array(z.string())) }).meta({ id: 'QuestionReply' })
export type QuestionReply = z.infer<typeof QuestionReply>

/** What became of a request: the answer that counted, whose it was, and when. */
const outcome = {
  state: z.enum(['pending', 'answered', 'withdrawn']).describe('`withdrawn`: nobody answers it any more.'),
  asked: ms,
  settled: ms.optional(),
  by: z.string().optional().describe('The subject of the caller whose answer counted; absent when nobody answered.'),
  reason: z.string().optional().describe('Why it has ended without an answer: `timeout`, `cancelled` or `restart`.'),
}

const PermissionOutcome = z
  .looseObject({
    ...outcome,
    request: PermissionRequest,
    reply: z.enum(['once', 'always', 'reject', 'cancelled']).optional(),
    message: z.string().optional(),
  })
  .meta({ id: 'PermissionOutcome' })
export type PermissionOutcome = z.infer<typeof PermissionOutcome>

const QuestionOutcome = z
  .looseObject({
    ...outcome,
    request: QuestionRequest,
    answers: z.array(z.array(z.string())).optional().describe('Absent where it was declined.'),
  })
  .meta({ id: 'QuestionOutcome' })
export type QuestionOutcome = z.infer<typeof QuestionOutcome>

const inDirectory = {
  access: { class: 'directory' },
  query: z.strictObject({ ...directoryQuery }),
  headers: directoryHeaders,
} as const

const params = z.strictObject({ request_id: z.string() })
const query = z.strictObject({ sessionId: z.string().optional() })
const access = { class: 'interaction', param: 'request_id' } as const
const tag = 'interactions' as const
const done = {
  status: 200,
  description: 'Always true, also when nothing was pending; the request itself says which answer counted.',
  schema: z.boolean(),
} as const

export const interactionRoutes = {
  permissions: defineRoute({
    id: 'v2.interactions.permissions.list',
    method: 'GET',
    path: '/v2/interactions/permissions',
    tag,
    access: { class: 'caller' },
    query,
    summary: 'List pending permission requests.',
    success: { status: 200, description: 'Pending requests.', schema: z.array(PermissionRequest) },
  }),
  permission: defineRoute({
    id: 'v2.interactions.permissions.get',
    method: 'GET',
    path: '/v2/interactions/permissions/{request_id}',
    tag,
    access,
    params,
    summary: 'Get one permission request, pending or not, and what became of it: which answer counted, whose it was and when.',
    success: { status: 200, description: 'The request and its outcome.', schema: PermissionOutcome },
  }),
  replyPermission: defineRoute({
    id: 'v2.interactions.permissions.reply',
    isForOwnPage: true,
    method: 'POST',
    path: '/v2/interactions/permissions/{request_id}/reply',
    tag,
    access,
    params,
    summary: 'Answer a permission request.',
    body: { schema: PermissionReply, required: true },
    success: done,
  }),
  questions: defineRoute({
    id: 'v2.interactions.questions.list',
    method: 'GET',
    path: '/v2/interactions/questions',
    tag,
    access: { class: 'caller' },
    query,
    summary: 'List pending questions.',
    success: { status: 200, description: 'Pending requests.', schema: z.array(QuestionRequest) },
  }),
  question: defineRoute({
    id: 'v2.interactions.questions.get',
    method: 'GET',
    path: '/v2/interactions/questions/{request_id}',
    tag,
    access,
    params,
    summary: 'Get one question, pending or not, and what became of it: which answer counted, whose it was and when.',
    success: { status: 200, description: 'The question and its outcome.', schema: QuestionOutcome },
  }),
  remembered: defineRoute({
    ...inDirectory,
    id: 'v2.interactions.remembered.list',
    method: 'GET',
    path: '/v2/interactions/remembered',
    tag,
    summary: 'List the "always" answers that are remembered where a directory belongs to: its repository, or itself outside of any.',
    success: { status: 200, description: 'The answers, the oldest first.', schema: z.array(RememberedAnswer) },
  }),
  explain: defineRoute({
    ...inDirectory,
    id: 'v2.interactions.explain',
    method: 'GET',
    path: '/v2/interactions/explain',
    tag,
    query: z.strictObject({
      ...directoryQuery,
      sessionId: sessionQuery.sessionId.describe('As a call of this session, in its directory.'),
      command: z.string().min(1).max(16_384).optional().describe('A line of the shell.'),
      permission: z.string().min(1).max(200).optional().describe('Or a permission group, with `pattern`.'),
      pattern: z.string().min(1).max(4096).optional().describe('What the group is asked for, `*` without it.'),
      agent: z.string().min(1).max(200).optional().describe('As this agent; without it as the session, or as the default agent.'),
    }),
    summary:
      'Tell what would be decided of a command, or of a permission, and by which rule or answer. Nothing is run, asked or remembered.',
    success: { status: 200, description: 'The decision and its reasons.', schema: Explanation },
  }),
  forget: defineRoute({
    ...inDirectory,
    id: 'v2.interactions.remembered.forget',
    isForOwnPage: true,
    method: 'DELETE',
    path: '/v2/interactions/remembered/{answer_id}',
    tag,
    params: z.strictObject({ answer_id: z.string() }),
    summary: 'Take back a remembered answer: from now on it is asked again, also in sessions that are under way.',
    success: { status: 200, description: 'True once it is forgotten.', schema: z.boolean() },
  }),
  replyQuestion: defineRoute({
    id: 'v2.interactions.questions.reply',
    isForOwnPage: true,
    method: 'POST',
    path: '/v2/interactions/questions/{request_id}/reply',
    tag,
    access,
    params,
    summary: 'Answer a question.',
    body: { schema: QuestionReply, required: true },
    success: done,
  }),
  rejectQuestion: defineRoute({
    id: 'v2.interactions.questions.reject',
    isForOwnPage: true,
    method: 'POST',
    path: '/v2/interactions/questions/{request_id}/reject',
    tag,
    access,
    params,
    summary: 'Decline to answer a question.',
    success: done,
  }),
} as const
