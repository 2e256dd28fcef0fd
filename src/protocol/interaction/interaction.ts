/** Permission and question requests, replies and rules (http-contract §2.8; sessions-events §8–9). */
import * as z from 'zod'
import { defineRoute } from '../route.js'

export const PermissionAction = z.enum(['allow', 'deny', 'ask'])
export type PermissionAction = z.infer<typeof PermissionAction>

export const PermissionRule = z
  .strictObject({ permission: z.string().min(1), pattern: z.string().min(1), action: PermissionAction })
  .meta({ id: 'PermissionRule' })
export type PermissionRule = z.infer<typeof PermissionRule>

/** A remembered answer. `exact`: it holds for this very target, whatever characters it has; otherwise for what the pattern matches. */
export interface Approval extends PermissionRule {
  readonly exact?: true
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

const params = z.strictObject({ request_id: z.string() })
const query = z.strictObject({ sessionId: z.string().optional() })
const access = { class: 'interaction', param: 'request_id' } as const
const tag = 'interactions' as const
const done = { status: 200, description: 'Always true, also when nothing was pending.', schema: z.boolean() } as const

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
  replyPermission: defineRoute({
    id: 'v2.interactions.permissions.reply',
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
  replyQuestion: defineRoute({
    id: 'v2.interactions.questions.reply',
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
    method: 'POST',
    path: '/v2/interactions/questions/{request_id}/reject',
    tag,
    access,
    params,
    summary: 'Decline to answer a question.',
    success: done,
  }),
} as const
