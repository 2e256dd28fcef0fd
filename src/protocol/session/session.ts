/** Sessions: record, status, runtime, execution activity, todos, and their routes (http-contract §2.5). */
import * as z from 'zod'
import { ExternalProvider, selectedOptions } from './external-provider.js'
import { GivenModelRef, ModelRef, PageCursor } from '../message/message.js'
import { TokenUsage } from '../message/token-usage.js'
import { PermissionRule } from '../interaction/interaction.js'
import { ExecutionPolicy } from './execution-policy.js'
import { LIMITS } from '../limits.js'
import { pathText } from '../text/path-text.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, ms, queryInt, uint } from '../shared.js'

const SessionTime = z
  .looseObject({ created: uint, updated: uint, compacting: uint.optional(), archived: ms.optional() })
  .meta({ id: 'SessionTime' })

export const CatalogActivity = z.enum(['idle', 'running', 'background', 'permission']).meta({ id: 'CatalogActivity' })
export type CatalogActivity = z.infer<typeof CatalogActivity>

/** The agent of others that answers a session (subsystems l.4). */
export const ExternalAgent = z
  .looseObject({
    runtime: z.literal('acp'),
    provider: ExternalProvider,
    agent: z.string(),
    status: z.enum(['created', 'running', 'completed', 'error']),
    lastActivityAt: ms.optional(),
    /** It shows what a subagent of the agent did in one turn of the parent, and takes no prompt. */
    nested: z.literal(true).optional(),
  })
  .meta({ id: 'ExternalAgent' })
export type ExternalAgent = z.infer<typeof ExternalAgent>

export const Session = z
  .looseObject({
    id: z.string(),
    slug: z.string(),
    projectId: z.string(),
    directory: z.string(),
    title: z.string(),
    version: z.string(),
    time: SessionTime,
    parentId: z.string().optional(),
    workspaceId: z.string().optional(),
    path: z.string().optional(),
    agent: z.string().optional(),
    model: ModelRef.optional(),
    permission: z.array(PermissionRule).optional(),
    catalogActivity: CatalogActivity.optional(),
    pinned: z.literal(true).optional(),
    svcTenantId: z.string().optional(),
    executionPolicy: ExecutionPolicy.optional().describe('How agents work for it, where a hosted caller made it; absent on every other.'),
    createdBy: z.string().optional(),
    directoryPrefixes: z.array(z.string()).optional(),
    imported: z
      .literal(true)
      .optional()
      .describe('It came with a bundle, and no person has prompted it here: whatever its rules allow is asked for.'),
    /** Prompts that name no agent are answered by the agent `plan`. */
    mode: z.looseObject({ type: z.literal('plan'), entered: ms }).optional(),
    /** Where the session works once the run under way has ended. */
    pendingMove: z
      .looseObject({ directory: z.string(), projectId: z.string(), path: z.string().optional(), switchWorkspace: z.boolean() })
      .optional(),
    /** The last execution that worked for it, and the root of its family then. */
    executionID: z.string().optional(),
    executionRootSessionID: z.string().optional(),
    /** What the last prompt said of who answers it, and without which tools: what the runtime tells the session afterwards is answered so, too. */
    continues: z.looseObject({ agent: z.string().optional(), refused: z.array(z.string()).optional() }).optional(),
    externalAgent: ExternalAgent.optional(),
    /** The run of a workflow that began the session; its `permission` are the rules of the file. */
    workflowRunID: z.string().optional(),
    /** Somebody stands for the content of the file: it was accepted, or saved by hand. */
    workflowAccepted: z.boolean().optional(),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

/** An agent, of ours or of others, works in it for its parent; a child that is not is a fork. */
export function isDelegated(session: Session): boolean {
  return session['delegation'] !== undefined || session.externalAgent !== undefined
}

/** Where a child's activity comes from, for clients that follow the whole family. */
export function sourceOf(session: Session): {
  parentSessionID?: string
  sourceSessionID?: string
  sourceTitle?: string
  sourceAgent?: string
} {
  if (session.parentId === undefined) return {}
  return {
    parentSessionID: session.parentId,
    sourceSessionID: session.id,
    sourceTitle: session.title,
    ...(session.agent === undefined ? {} : { sourceAgent: session.agent }),
  }
}

export const SessionPage = z.looseObject({ items: z.array(Session), cursor: PageCursor }).meta({ id: 'SessionPage' })
export type SessionPage = z.infer<typeof SessionPage>

export const CreateSessionRequest = z
  .strictObject({
    parentId: z.string().optional(),
    title: z.string().max(1000).optional(),
    agent: z.string().optional(),
    model: GivenModelRef.optional(),
    permission: z.array(PermissionRule).max(LIMITS.sessions.permissionRules).optional(),
    workspaceId: z.string().optional(),
    externalProvider: ExternalProvider.optional().describe(
      'An agent of others that answers the session, for good: no model, agent or compaction of ours.',
    ),
    externalOptions: selectedOptions
      .optional()
      .describe('What is chosen of it, by the id of the option; the agent is started and asked whether it can be.'),
  })
  .meta({ id: 'CreateSessionRequest' })
export type CreateSessionRequest = z.infer<typeof CreateSessionRequest>

export const UpdateSessionRequest = z
  .strictObject({
    title: z.string().max(1000).optional(),
    agent: z.string().optional(),
    directory: pathText.min(1).max(4096).optional(),
    model: GivenModelRef.optional(),
    permission: z.array(PermissionRule).max(LIMITS.sessions.permissionRules).optional(),
    time: z.strictObject({ archived: ms.optional() }).optional(),
  })
  .meta({ id: 'UpdateSessionRequest' })
export type UpdateSessionRequest = z.infer<typeof UpdateSessionRequest>

const SetPinRequest = z.strictObject({ pinned: z.boolean().optional() }).meta({ id: 'SetPinRequest' })

export const SessionStatus = z
  .looseObject({
    type: z.enum(['idle', 'busy', 'retry']),
    queue: z.looseObject({ count: uint, preview: z.string().optional() }).optional(),
    attempt: uint.optional(),
    attempts: uint.optional().describe('How many attempts there are at most, the first included; `attempt` of them have failed.'),
    message: z.string().optional(),
    next: uint.optional(),
    runID: z.string().optional(),
    startedAt: ms.optional(),
    parentSessionID: z.string().optional(),
    sourceSessionID: z.string().optional(),
    sourceTitle: z.string().optional(),
    sourceAgent: z.string().optional(),
  })
  .meta({ id: 'SessionStatus' })
export type SessionStatus = z.infer<typeof SessionStatus>
const SessionStatusMap = z.record(z.string(), SessionStatus).meta({ id: 'SessionStatusMap' })

export const Todo = z.looseObject({ content: z.string(), status: z.string(), priority: z.string() }).meta({ id: 'Todo' })
export type Todo = z.infer<typeof Todo>

const SubtaskLifecycleSnapshot = z
  .looseObject({
    sessionId: z.string(),
    parentSessionId: z.string(),
    status: z.enum(['outstanding', 'completed', 'failed']),
    startedAt: uint.nullable().optional(),
  })
  .meta({ id: 'SubtaskLifecycleSnapshot' })

export const ExecutionActivitySnapshot = z
  .looseObject({
    executionId: z.string(),
    rootSessionId: z.string(),
    rootMessageId: z.string(),
    completedMs: uint,
    activeSegments: z.record(z.string(), uint),
    revision: uint,
    finished: z.boolean(),
  })
  .meta({ id: 'ExecutionActivitySnapshot' })
export type ExecutionActivitySnapshot = z.infer<typeof ExecutionActivitySnapshot>

export const ExecutionSummary = z
  .strictObject({ rootSessionId: z.string(), executionId: z.string(), revision: uint, finished: z.boolean() })
  .meta({ id: 'ExecutionSummary' })
export type ExecutionSummary = z.infer<typeof ExecutionSummary>

/** What the answers of a family have cost, subagents included. */
export const SessionUsage = z.looseObject({ cost: z.number(), tokens: TokenUsage }).meta({ id: 'SessionUsage' })
export type SessionUsage = z.infer<typeof SessionUsage>

export const SessionRuntimeSnapshot = z
  .looseObject({
    rootSessionId: z.string(),
    revision: uint,
    familyRevision: uint.optional(),
    branches: z.array(SubtaskLifecycleSnapshot),
    execution: ExecutionActivitySnapshot.nullable().optional(),
    backgroundJobsEpoch: z.string().optional(),
    backgroundJobsRevision: uint.optional(),
    runningBackgroundTasks: z.array(z.looseObject({ jobId: z.string(), sessionId: z.string(), startedAt: uint })).optional(),
    usage: SessionUsage.optional(),
  })
  .meta({ id: 'SessionRuntimeSnapshot' })
export type SessionRuntimeSnapshot = z.infer<typeof SessionRuntimeSnapshot>

const params = z.strictObject({ session_id: z.string() })
const access = { class: 'session', param: 'session_id' } as const
const tag = 'sessions' as const

export const sessionRoutes = {
  list: defineRoute({
    id: 'v2.sessions.list',
    method: 'GET',
    path: '/v2/sessions',
    tag,
    access: { class: 'caller' },
    headers: directoryHeaders,
    query: z.strictObject({
      ...directoryQuery,
      path: pathText.optional(),
      roots: z.string().optional(),
      archived: z.string().optional(),
      start: queryInt(0, Number.MAX_SAFE_INTEGER).optional(),
      search: z.string().max(1000).optional(),
      limit: queryInt(1, 200).optional(),
      cursor: z.string().max(256).optional(),
    }),
    summary: 'List sessions, newest first.',
    success: { status: 200, description: 'A page of sessions.', schema: SessionPage },
  }),
  create: defineRoute({
    id: 'v2.sessions.create',
    method: 'POST',
    path: '/v2/sessions',
    tag,
    access: { class: 'directory' },
    headers: directoryHeaders,
    query: z.strictObject(directoryQuery),
    summary: 'Create a session rooted in the directory of the call.',
    body: { schema: CreateSessionRequest, required: false },
    personFields: ['permission', 'externalProvider'],
    success: { status: 200, description: 'The session.', schema: Session },
  }),
  status: defineRoute({
    id: 'v2.sessions.status',
    method: 'GET',
    path: '/v2/sessions/status',
    tag,
    access: { class: 'caller' },
    summary: 'Status of every session that is not idle.',
    success: { status: 200, description: 'Status by session id.', schema: SessionStatusMap },
  }),
  get: defineRoute({
    id: 'v2.sessions.get',
    method: 'GET',
    path: '/v2/sessions/{session_id}',
    tag,
    access,
    params,
    summary: 'Get one session.',
    success: { status: 200, description: 'The session.', schema: Session },
  }),
  update: defineRoute({
    id: 'v2.sessions.update',
    method: 'PATCH',
    path: '/v2/sessions/{session_id}',
    tag,
    access,
    params,
    summary: 'Change a session.',
    body: { schema: UpdateSessionRequest, required: true },
    personFields: ['permission', 'directory'],
    success: { status: 200, description: 'The session.', schema: Session },
  }),
  delete: defineRoute({
    id: 'v2.sessions.delete',
    method: 'DELETE',
    path: '/v2/sessions/{session_id}',
    tag,
    access,
    params,
    query: z.strictObject({
      keepForks: z
        .enum(['true', 'false'])
        .optional()
        .describe('`true`: forks stay, with all that came from them, as conversations of their own.'),
    }),
    summary: 'Delete a session and its descendants.',
    success: { status: 200, description: 'True once deleted.', schema: z.boolean() },
  }),
  children: defineRoute({
    id: 'v2.sessions.children',
    method: 'GET',
    path: '/v2/sessions/{session_id}/children',
    tag,
    access,
    params,
    summary: 'List direct children.',
    success: { status: 200, description: 'The children.', schema: SessionPage },
  }),
  runtime: defineRoute({
    id: 'v2.sessions.runtime',
    method: 'GET',
    path: '/v2/sessions/{session_id}/runtime',
    tag,
    access,
    params,
    summary: 'Runtime of the family of a session.',
    success: { status: 200, description: 'The runtime snapshot.', schema: SessionRuntimeSnapshot },
  }),
  todos: defineRoute({
    id: 'v2.sessions.todos',
    method: 'GET',
    path: '/v2/sessions/{session_id}/todos',
    tag,
    access,
    params,
    summary: 'The todo list.',
    success: { status: 200, description: 'Todos.', schema: z.array(Todo) },
  }),
  pin: defineRoute({
    id: 'v2.sessions.pin',
    method: 'POST',
    path: '/v2/sessions/{session_id}/pin',
    tag,
    access,
    params,
    summary: 'Pin or unpin a session; without a value, toggle.',
    body: { schema: SetPinRequest, required: false },
    success: { status: 200, description: 'The session.', schema: Session },
  }),
} as const
