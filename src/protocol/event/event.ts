/** The Event union, discriminated by `type`, and which events are durable (http-contract §4.1; sessions-events §11). */
import * as z from 'zod'
import { ApiError } from '../api-error.js'
import { PermissionRequest, QuestionRequest, RememberedAnswer } from '../interaction/interaction.js'
import { LIMITS } from '../limits.js'
import { MessageInfo, Part, PromptRequest, SessionQueueInfo } from '../message/message.js'
import { PackageLifecycleInfo } from '../plugin/plugin.js'
import { Pty } from '../terminal/pty.js'
import { defineRoute } from '../route.js'
import { CompactionSummary } from '../session/compaction.js'
import { JobStatus } from '../session/job.js'
import {
  CatalogActivity,
  ExecutionActivitySnapshot,
  ExecutionSummary,
  Session,
  SessionRuntimeSnapshot,
  SessionStatus,
  SessionUsage,
  Todo,
} from '../session/session.js'
import { SessionControl } from '../session/sharing.js'
import { WorkflowProjection, WorkflowRun } from '../workflow/workflow.js'
import { EVENT_SENTENCES } from './event-sentences.js'
import { anyRecord, directoryHeaders, directoryQuery, ms, queryBool, queryClampedInt, queryInt, uint } from '../shared.js'

export const SCHEMA_VERSION = '1.0.0'

export const EventSubject = z.looseObject({ kind: z.string(), id: z.string() }).meta({ id: 'EventSubject' })

const session = { sessionID: z.string() }
/** Both are the id of the terminal. */
const terminal = { id: z.string(), ptyID: z.string() }

/** Data of every event svc core emits, by type. */
const EVENT_DATA = {
  'session.created': z.looseObject({ ...session, info: Session }),
  'session.updated': z.looseObject({ ...session, info: Session }),
  'session.deleted': z.looseObject({ ...session, info: Session, tenantID: z.string() }),
  'session.control.updated': z.looseObject({ ...session, control: SessionControl.nullable() }),
  'session.moved': z.looseObject({
    ...session,
    info: Session,
    previousDirectory: z.string(),
    directory: z.string(),
    switchWorkspace: z.boolean(),
  }),
  'session.status': z.looseObject({
    ...session,
    status: SessionStatus,
    runID: z.string().optional(),
    startedAt: ms.optional(),
    queue: uint.optional(),
    parentSessionID: z.string().optional(),
    sourceSessionID: z.string().optional(),
    sourceTitle: z.string().optional(),
    sourceAgent: z.string().optional(),
  }),
  'session.error': z.looseObject({ ...session, error: ApiError }),
  'session.prompt.admitted': z.looseObject({ ...session, delivery: z.string(), request: PromptRequest }),
  'session.queue.updated': z.looseObject({
    ...session,
    action: z.enum(['enqueue', 'dequeue', 'requeue', 'pop', 'clear', 'clear-all', 'hold', 'release']),
    removed: z.number().int(),
    queue: SessionQueueInfo,
    delivery: z.string().optional(),
    messageID: z.string().optional(),
    /** Of all that were removed or held. */
    messageIDs: z.array(z.string()).optional(),
    request: PromptRequest.optional(),
  }),
  'session.context.updated': z.looseObject({ ...session, epoch: anyRecord }),
  'session.next.compaction.started': z.looseObject({ ...session, messageID: z.string(), timestamp: ms, reason: z.string() }),
  'session.next.compaction.delta': z.looseObject({ ...session, text: z.string() }),
  'session.next.compaction.ended': z.looseObject({
    ...session,
    messageID: z.string().optional(),
    timestamp: ms.optional(),
    status: z.enum(['completed', 'over', 'error']).optional(),
    kind: z.string().optional(),
    text: z.string().optional(),
    summary: anyRecord.optional(),
    error: anyRecord.optional(),
    /** With the status `over`: how large the next request still is. */
    note: z.string().optional(),
  }),
  'session.compacted': z.looseObject({ ...session, info: Session, summary: CompactionSummary }),
  'session.execution.updated': z.looseObject({ ...session, snapshot: ExecutionActivitySnapshot, runtime: SessionRuntimeSnapshot }),
  /** Commands that run in the background for one session. */
  'session.background_tasks.updated': z.looseObject({
    ...session,
    runningBackgroundTasks: z.array(z.looseObject({ jobID: z.string(), sessionID: z.string(), startedAt: ms })),
    backgroundJobsEpoch: z.string(),
    backgroundJobsRevision: uint,
  }),
  /** `taskID` is the id of the job, `parentSessionID` the session it ran for. `exitCode` is null when it did not end by itself. */
  'session.background_task.completed': z.looseObject({
    ...session,
    parentSessionID: z.string(),
    jobID: z.string(),
    taskID: z.string(),
    status: JobStatus,
    title: z.string(),
    command: z.string(),
    cwd: z.string(),
    exitCode: z.number().int().nullable(),
    result: z.string(),
  }),
  'session.subtask.completed': z.looseObject({
    ...session,
    parentSessionID: z.string(),
    childSessionID: z.string(),
    taskID: z.string(),
    status: z.enum(['completed', 'error']),
    title: z.string(),
    result: z.string(),
    agent: z.string().optional(),
    sourceAgent: z.string().optional(),
    executionID: z.string().optional(),
    rootSessionID: z.string().optional(),
    familyRevision: uint.optional(),
    /** What the task and all below it have cost. */
    usage: SessionUsage.optional(),
  }),
  'session.catalog.activity': z.looseObject({ ...session, activity: CatalogActivity }),
  'message.updated': z.looseObject({ ...session, info: MessageInfo }),
  'message.removed': z.looseObject({ ...session, messageID: z.string() }),
  'message.part.updated': z.looseObject({ ...session, part: Part, time: ms }),
  'message.part.removed': z.looseObject({ ...session, messageID: z.string(), partID: z.string() }),
  'message.part.delta': z.looseObject({
    ...session,
    messageID: z.string(),
    partID: z.string(),
    partType: z.string(),
    field: z.string(),
    delta: z.string(),
  }),
  'permission.asked': PermissionRequest,
  /** `reason`: `timeout` when nobody answered in time. */
  'permission.replied': z.looseObject({
    requestID: z.string(),
    reply: z.string(),
    info: PermissionRequest.nullable().optional(),
    reason: z.string().optional(),
  }),
  'permission.remembered': z.looseObject({ sessionID: z.string().optional(), answers: z.array(RememberedAnswer) }),
  'permission.forgotten': z.looseObject({ sessionID: z.string().optional(), answer: RememberedAnswer }),
  'question.asked': QuestionRequest,
  'question.replied': z.looseObject({
    requestID: z.string(),
    reply: z.looseObject({ answers: z.array(z.array(z.string())) }),
    info: QuestionRequest.nullable().optional(),
  }),
  'question.rejected': z.looseObject({ requestID: z.string(), info: QuestionRequest.nullable().optional(), reason: z.string().optional() }),
  'todo.updated': z.looseObject({ ...session, todos: z.array(Todo) }),
  'config.updated': z.looseObject({ directory: z.string().optional() }),
  'package.updated': z.looseObject({ directory: z.string().optional(), info: PackageLifecycleInfo }),
  /** `aggregateID` is the activation. With `workflow`, unless its file is gone or not valid: then `workflowID`, `active` and `error`. */
  'workflow.updated': z.looseObject({
    aggregateID: z.string(),
    workflow: WorkflowProjection.optional(),
    workflowID: z.string().optional(),
    active: z.boolean().optional(),
    error: z.string().optional(),
  }),
  'workflow.run.updated': z.looseObject({ aggregateID: z.string(), run: WorkflowRun }),
  'management.repository.progress': z.looseObject({ directory: z.string(), phase: z.string(), percent: uint }),
  'pty.created': z.looseObject({ ...terminal, info: Pty }),
  'pty.updated': z.looseObject({ ...terminal, info: Pty }),
  'pty.deleted': z.looseObject({ ...terminal, info: Pty }),
  'vcs.branch.updated': z.looseObject({ directory: z.string(), branch: z.string().nullable() }),
  'vcs.updated': z.looseObject({ directory: z.string() }),
  'mcp.tools.changed': z.looseObject({ directory: z.string(), server: z.string() }),
  'lsp.updated': z.looseObject({}),
  'pty.exited': z.looseObject({ ...terminal, exitStatus: z.number().int().nullable() }),
} as const

export type EventType = keyof typeof EVENT_DATA
export type EventData<T extends EventType> = z.infer<(typeof EVENT_DATA)[T]>

/** Of an answer to a cursor that a store before this one has handed out: the stream has all that this one keeps, which is what follows the number. */
export const TRIMMED_HEADER = 'x-svc-trimmed'

/** Events that may be published without a commit; every other event is stored with the change it describes. */
export const TRANSIENT_EVENTS: ReadonlySet<EventType> = new Set([
  'message.part.delta',
  'message.part.updated',
  'session.catalog.activity',
  'session.next.compaction.delta',
  'package.updated',
  'management.repository.progress',
])

const envelope = {
  id: z.string(),
  sequence: uint,
  source: z.string(),
  schemaVersion: z.string(),
  timestamp: ms,
  subject: EventSubject.optional(),
}

/** Any event, also one of a type that is not known yet (http-contract §4.1). */
export const EventEnvelope = z
  .looseObject({ ...envelope, type: z.string(), data: z.record(z.string(), z.unknown()) })
  .meta({ id: 'EventEnvelope' })

function record(type: EventType) {
  const name = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  const meta = { id: `Event${name.join('')}`, description: EVENT_SENTENCES[type] }
  return z.looseObject({ ...envelope, type: z.literal(type), data: EVENT_DATA[type] }).meta(meta)
}

const types = Object.keys(EVENT_DATA) as EventType[]
const [first, ...rest] = types.map(record)
if (first === undefined) throw new Error('no event types')
export const Event = z.discriminatedUnion('type', [first, ...rest]).meta({ id: 'Event' })

/** An event as it travels: the envelope with typed data. */
export interface EventOf<T extends EventType> {
  readonly id: string
  readonly sequence: number
  readonly type: T
  readonly source: string
  readonly schemaVersion: string
  readonly timestamp: number
  readonly subject?: { readonly kind: string; readonly id: string }
  readonly data: EventData<T>
}

const streamOf = (description: string) => ({ status: 200, description, mediaType: 'text/event-stream' }) as const

export const eventRoutes = {
  subscribe: defineRoute({
    id: 'v2.events.subscribe',
    method: 'GET',
    path: '/v2/events',
    tag: 'events',
    access: { class: 'caller' },
    headers: z.looseObject({ 'last-event-id': z.string().optional().meta({ type: 'integer', minimum: 0 }) }),
    query: z.strictObject({
      since: queryInt(0, Number.MAX_SAFE_INTEGER).optional(),
      tail: queryBool.optional().meta({ default: false }),
      limit: queryClampedInt(1, LIMITS.events.replayPageMax)
        .optional()
        .meta({
          default: LIMITS.events.replayPageDefault,
          description: `Events in a page of the replay; another number counts as the nearest of 1 to ${LIMITS.events.replayPageMax}.`,
        }),
      sessionId: z
        .string()
        .optional()
        .describe('Only events of the family of this session. With an id that no session has, nothing comes until there is one.'),
    }),
    summary: 'Subscribe to events: replay from a cursor, then live.',
    success: { ...streamOf('A stream of events.'), schema: Event },
  }),
  catalog: defineRoute({
    id: 'v2.sessionCatalog.subscribe',
    method: 'GET',
    path: '/v2/session-catalog/events',
    tag: 'events',
    access: { class: 'directory' },
    headers: directoryHeaders,
    query: z.strictObject(directoryQuery),
    summary:
      'Subscribe to root sessions of a directory and their activity; of one that moves away comes a last `session.updated`, with its new directory.',
    success: { ...streamOf('A stream of events of root sessions.'), schema: Event },
  }),
  activity: defineRoute({
    id: 'v2.executionActivity.list',
    method: 'GET',
    path: '/v2/execution-activity',
    tag: 'events',
    access: { class: 'caller' },
    summary: 'The latest execution of every root session.',
    success: { status: 200, description: 'Execution summaries.', schema: z.array(ExecutionSummary) },
  }),
  activityEvents: defineRoute({
    id: 'v2.executionActivity.events',
    method: 'GET',
    path: '/v2/execution-activity/events',
    tag: 'events',
    access: { class: 'caller' },
    summary: 'Subscribe to execution summaries; every record is the whole list.',
    success: { ...streamOf('A stream of lists.'), schema: z.array(ExecutionSummary) },
  }),
} as const
