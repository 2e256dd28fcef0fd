/** Scheduled workflows: definition, schedule, projection, runs (http-contract §2.18; subsystems a.6). Their routes are in `workflow-routes.ts`. */
import * as z from 'zod'
import { Refusal } from '../interaction/refusal.js'
import { LIMITS } from '../limits.js'
import { ModelRef } from '../message/message.js'
import { pathText } from '../text/path-text.js'
import { ms } from '../shared.js'

const { nameLength, textLength, fileBytes, permissionPatterns } = LIMITS.workflows

const text = z.string().min(1).max(textLength)
const directory = pathText.min(1).max(textLength)
const count = z.number().int().min(1)
const delay = z.number().int().min(0)

/** In the order of `dayNumber mod 7` (subsystems a.5). */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
export type Weekday = (typeof WEEKDAYS)[number]

export const FREQUENCIES = ['once', 'hourly', 'daily', 'weekly', 'monthly'] as const
const WorkflowFrequency = z.enum(FREQUENCIES)
type WorkflowFrequency = z.infer<typeof WorkflowFrequency>

/**
 * When a workflow runs. What we send is normalised: only the fields of its kind, defaults filled in, `time` as `HH:MM` or
 * `HH:MM:SS`, weekdays as `mon`, the zone as a name of IANA. What we take may be spelled as in a file.
 */
export const WorkflowSchedule = z
  .strictObject({
    frequency: WorkflowFrequency.default('once'),
    interval: count.default(1),
    timezone: text.default('UTC'),
    minute: z.number().int().min(0).max(59).optional(),
    time: text.optional(),
    weekdays: z.array(text).max(14).optional(),
    monthDay: z.number().int().min(1).max(31).optional(),
    date: text.optional(),
    at: text.optional(),
  })
  .meta({ id: 'WorkflowSchedule' })
export type WorkflowSchedule = z.infer<typeof WorkflowSchedule>

const patterns = z.array(text).max(permissionPatterns)

/** Of one permission group: an action, or what is allowed and denied there (service.md, Permissions object). */
export const WorkflowPermission = z.union([
  z.string().max(textLength),
  z.strictObject({ default: z.string().max(textLength).optional(), allow: patterns.optional(), deny: patterns.optional() }),
])
export type WorkflowPermission = z.infer<typeof WorkflowPermission>
export const WorkflowPermissions = z.record(text, WorkflowPermission)
export type WorkflowPermissions = z.infer<typeof WorkflowPermissions>

export const WorkflowRetryPolicy = z
  .strictObject({
    maxAttempts: count.default(1),
    backoff: z.enum(['fixed', 'exponential']).default('fixed'),
    initialDelayMs: delay.default(0),
    /** 0 = no cap. */
    maxDelayMs: delay.default(0),
    /** Parts of error texts, whatever their case; none = any error. */
    retryableErrors: z.array(text).max(100).default([]),
  })
  .meta({ id: 'WorkflowRetryPolicy' })
export type WorkflowRetryPolicy = z.infer<typeof WorkflowRetryPolicy>

export const WorkflowConcurrencyPolicy = z
  .strictObject({ mode: z.enum(['forbid', 'replace', 'allow']).default('forbid'), maxRunning: count.default(1) })
  .meta({ id: 'WorkflowConcurrencyPolicy' })
export type WorkflowConcurrencyPolicy = z.infer<typeof WorkflowConcurrencyPolicy>

export const WorkflowDefinition = z
  .strictObject({
    id: z.string().min(1).max(LIMITS.workflows.textLength),
    name: z.string().min(1).max(nameLength),
    schedule: WorkflowSchedule,
    prompt: z.string().max(fileBytes),
    retry: WorkflowRetryPolicy.optional(),
    concurrency: WorkflowConcurrencyPolicy.optional(),
    active: z.boolean().default(false),
    directory: directory.optional(),
    agent: text.optional(),
    model: ModelRef.optional(),
    skill: text.optional(),
    permissions: WorkflowPermissions.optional(),
  })
  .meta({ id: 'WorkflowDefinition' })
export type WorkflowDefinition = z.infer<typeof WorkflowDefinition>

/** What is given replaces; null removes. */
export const WorkflowDefinitionPatch = WorkflowDefinition.partial()
  .extend({
    active: z.boolean().optional(), // without its default: what is absent stays as it is
    directory: directory.nullish(),
    agent: text.nullish(),
    model: ModelRef.nullish(),
    skill: text.nullish(),
    permissions: WorkflowPermissions.nullish(),
  })
  .meta({ id: 'WorkflowDefinitionPatch' })
export type WorkflowDefinitionPatch = z.infer<typeof WorkflowDefinitionPatch>

export const WorkflowDiagnostic = z
  .looseObject({
    sourcePath: z.string(),
    message: z.string(),
    /** `acceptance-required`, `rules-not-accepted`, `directory-missing`; `agent-missing` and `skill-missing`, with which it stays active. */
    code: z.string().optional(),
    /** Of the file, from 1. */
    line: count.optional(),
  })
  .meta({ id: 'WorkflowDiagnostic' })
export type WorkflowDiagnostic = z.infer<typeof WorkflowDiagnostic>

export const WorkflowView = z
  .looseObject({
    definition: WorkflowDefinition,
    sourcePath: z.string(),
    /** SHA-256 of the bytes of the file, hexadecimal. */
    sourceHash: z.string(),
    active: z.boolean(),
    activationID: z.string().nullable().optional(),
    activationId: z.string().nullable().optional(),
    lastScheduledAt: ms.nullable().optional(),
    /** `sha256:` and the hash; only of a file that can be changed over HTTP. */
    revision: z.string().optional(),
    writable: z.boolean().optional(),
    /** Why it does not run, or not with all it says. */
    diagnostics: z.array(WorkflowDiagnostic).optional(),
  })
  .meta({ id: 'WorkflowView' })
export type WorkflowView = z.infer<typeof WorkflowView>

export const WorkflowCatalog = z
  .looseObject({ workflows: z.array(WorkflowView), diagnostics: z.array(WorkflowDiagnostic) })
  .meta({ id: 'WorkflowCatalog' })
export type WorkflowCatalog = z.infer<typeof WorkflowCatalog>

export const WorkflowProjection = z
  .looseObject({
    activationId: z.string(),
    workflowId: z.string(),
    workspaceRoot: z.string(),
    sourcePath: z.string(),
    sourceHash: z.string(),
    definition: WorkflowDefinition,
    active: z.boolean(),
    activatedAt: ms,
    lastScheduledAt: ms.nullable().optional(),
    updated: ms,
  })
  .meta({ id: 'WorkflowProjection' })
export type WorkflowProjection = z.infer<typeof WorkflowProjection>

export const WorkflowUpcoming = z
  .looseObject({
    scheduledAt: ms,
    /** RFC 3339 in UTC. */
    utc: z.string(),
    /** RFC 3339 with the offset of the zone. */
    local: z.string(),
    /** `gap`: the local time does not exist that day, the first valid minute is taken. `fold`: it exists twice, the first is taken. */
    shift: z.enum(['gap', 'fold']).optional(),
  })
  .meta({ id: 'WorkflowUpcoming' })
export type WorkflowUpcoming = z.infer<typeof WorkflowUpcoming>

export const WorkflowPreview = z
  .looseObject({ definition: WorkflowDefinition, sourcePath: z.string(), upcoming: z.array(WorkflowUpcoming) })
  .meta({ id: 'WorkflowPreview' })
export type WorkflowPreview = z.infer<typeof WorkflowPreview>

const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'interrupted', 'replaced', 'retry_waiting'] as const
const WorkflowRunStatus = z.enum(RUN_STATUSES)

const RUN_TRIGGERS = ['scheduled', 'manual', 'manual-retry', 'automatic-retry', 'recovery-retry'] as const
export const WorkflowRunTrigger = z.enum(RUN_TRIGGERS)
export type WorkflowRunTrigger = z.infer<typeof WorkflowRunTrigger>

export const WorkflowRun = z
  .looseObject({
    id: z.string(),
    activationId: z.string(),
    workflowId: z.string(),
    scheduledAt: ms,
    startedAt: ms.nullable().optional(),
    finishedAt: ms.nullable().optional(),
    sessionId: z.string().nullable().optional(),
    status: WorkflowRunStatus,
    trigger: WorkflowRunTrigger,
    error: z.string().nullable().optional(),
    /** What it asked and nobody answered in time; absent when there was nothing. */
    refused: z.array(Refusal).optional(),
    created: ms,
    attempt: count,
    /** The first run of a line of retries; its own id when it is the first. */
    rootRunId: z.string(),
    retryOf: z.string().nullable().optional(),
    nextAttemptAt: ms.nullable().optional(),
    leaseOwner: z.string().nullable().optional(),
    leaseExpiresAt: ms.nullable().optional(),
  })
  .meta({ id: 'WorkflowRun' })
export type WorkflowRun = z.infer<typeof WorkflowRun>

/** Newest occurrence first. */
export const WorkflowHistory = z.looseObject({ runs: z.array(WorkflowRun) }).meta({ id: 'WorkflowHistory' })
export type WorkflowHistory = z.infer<typeof WorkflowHistory>
