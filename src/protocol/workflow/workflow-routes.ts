/**
 * The operations of `dev.svc.workflows` (http-contract §5.12). Reading, activating and running are for whoever may use the
 * directory; writing definitions is for the operator (subsystems a.12, threat-model T7).
 */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, queryInt, scopeQuery } from '../shared.js'
import {
  WorkflowCatalog,
  WorkflowDefinition,
  WorkflowDefinitionPatch,
  WorkflowHistory,
  WorkflowPreview,
  WorkflowProjection,
  WorkflowRun,
  WorkflowView,
} from './workflow.js'

const PREFIX = '/v2/plugins/dev.svc.workflows'
const ONE = `${PREFIX}/{workflow_id}`

const revision = z.string().min(1).max(256).optional()
const query = { ...directoryQuery, ...scopeQuery }
const common = { tag: 'plugins', access: { class: 'directory' }, headers: directoryHeaders, query: z.strictObject(query) } as const
const write = {
  ...common,
  access: { class: 'directory', operator: true },
  headers: z.looseObject({ ...directoryHeaders.shape, 'if-match': revision }),
  query: z.strictObject({ ...query, expectedRevision: revision }),
} as const
const one = { params: z.strictObject({ workflow_id: z.string() }) } as const
const run = { params: z.strictObject({ workflow_id: z.string(), run_id: z.string() }) } as const

export const workflowRoutes = {
  list: defineRoute({
    ...common,
    id: 'v2.plugins.workflows.list',
    method: 'GET',
    path: PREFIX,
    summary: 'Workflows found for a workspace, and what is wrong with files that are none.',
    success: { status: 200, description: 'Workflows by id.', schema: WorkflowCatalog },
  }),
  create: defineRoute({
    ...common,
    access: { class: 'directory', operator: true },
    id: 'v2.plugins.workflows.create',
    method: 'POST',
    path: PREFIX,
    summary: 'Write the file of a new workflow.',
    body: { schema: WorkflowDefinition, required: true },
    success: { status: 201, description: 'The workflow.', schema: WorkflowView },
  }),
  get: defineRoute({
    ...common,
    ...one,
    id: 'v2.plugins.workflows.get',
    method: 'GET',
    path: ONE,
    summary: 'One workflow.',
    success: { status: 200, description: 'The workflow.', schema: WorkflowView },
  }),
  update: defineRoute({
    ...write,
    ...one,
    id: 'v2.plugins.workflows.update',
    method: 'PUT',
    path: ONE,
    summary: 'Replace the file of a workflow.',
    body: { schema: WorkflowDefinition, required: true },
    success: { status: 200, description: 'The workflow.', schema: WorkflowView },
  }),
  patch: defineRoute({
    ...write,
    ...one,
    id: 'v2.plugins.workflows.patch',
    method: 'PATCH',
    path: ONE,
    summary: 'Change fields of the file of a workflow.',
    body: { schema: WorkflowDefinitionPatch, required: true },
    success: { status: 200, description: 'The workflow.', schema: WorkflowView },
  }),
  delete: defineRoute({
    ...write,
    ...one,
    id: 'v2.plugins.workflows.delete',
    method: 'DELETE',
    path: ONE,
    summary: 'Remove the file of a workflow; its history stays.',
    success: { status: 204, description: 'Removed.' },
  }),
  activate: defineRoute({
    ...common,
    isForOwnPage: true,
    ...one,
    headers: write.headers,
    query: write.query,
    id: 'v2.plugins.workflows.activate',
    method: 'POST',
    path: `${ONE}/activate`,
    summary: 'Accept the content of the file, and run by schedule until it changes.',
    success: { status: 200, description: 'The activation.', schema: WorkflowProjection },
  }),
  pause: defineRoute({
    ...common,
    ...one,
    id: 'v2.plugins.workflows.pause',
    isForOwnPage: true,
    method: 'POST',
    path: `${ONE}/pause`,
    summary: 'Do not run by schedule, until the file changes.',
    success: { status: 200, description: 'The activation.', schema: WorkflowProjection },
  }),
  preview: defineRoute({
    ...common,
    ...one,
    id: 'v2.plugins.workflows.preview',
    method: 'GET',
    path: `${ONE}/preview`,
    summary: 'The next occurrences.',
    success: { status: 200, description: 'Occurrences in UTC and in the zone of the schedule.', schema: WorkflowPreview },
  }),
  run: defineRoute({
    ...common,
    ...one,
    id: 'v2.plugins.workflows.run',
    isForOwnPage: true,
    method: 'POST',
    path: `${ONE}/run`,
    summary: 'Run now; whether it is active stays as it is.',
    success: { status: 200, description: 'The run.', schema: WorkflowRun },
  }),
  history: defineRoute({
    ...common,
    ...one,
    id: 'v2.plugins.workflows.history',
    method: 'GET',
    path: `${ONE}/runs`,
    query: z.strictObject({
      ...query,
      limit: queryInt(1, LIMITS.workflows.historyMax).optional().meta({ default: LIMITS.workflows.historyDefault }),
    }),
    summary: 'Runs, the newest occurrence first.',
    success: { status: 200, description: 'Runs.', schema: WorkflowHistory },
  }),
  runsGet: defineRoute({
    ...common,
    ...run,
    id: 'v2.plugins.workflows.runs.get',
    method: 'GET',
    path: `${ONE}/runs/{run_id}`,
    summary: 'One run.',
    success: { status: 200, description: 'The run.', schema: WorkflowRun },
  }),
  runsRetry: defineRoute({
    ...common,
    ...run,
    id: 'v2.plugins.workflows.runs.retry',
    isForOwnPage: true,
    method: 'POST',
    path: `${ONE}/runs/{run_id}/retry`,
    summary: 'Run again what failed, was interrupted or was replaced.',
    success: { status: 200, description: 'The new run.', schema: WorkflowRun },
  }),
} as const
