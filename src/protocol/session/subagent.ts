/** Tasks that a session has delegated, served by `dev.svc.subagents` (http-contract §2.16, §5.8). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { uint } from '../shared.js'

const PREFIX = '/v2/plugins/dev.svc.subagents/sessions/{session_id}'

/** A task is the session it is carried out in: `id` = `childSessionId`. */
export const SubagentTask = z
  .looseObject({
    id: z.string(),
    sessionId: z.string(),
    childSessionId: z.string(),
    agent: z.string(),
    status: z.enum(['pending', 'running', 'completed', 'error', 'stopped']),
    description: z.string(),
    nested: z.boolean(),
    result: z.string().optional(),
  })
  .meta({ id: 'SubagentTask' })
export type SubagentTask = z.infer<typeof SubagentTask>

export const StopSubagentsRequest = z.strictObject({ taskId: z.string().optional() }).meta({ id: 'StopSubagentsRequest' })

const StopSubagentsResult = z.looseObject({ stopped: z.array(z.string()), clearedPrompts: uint }).meta({ id: 'StopSubagentsResult' })
export type StopSubagentsResult = z.infer<typeof StopSubagentsResult>

export const SubagentParams = z.strictObject({ session_id: z.string() })

const common = { tag: 'subagents', access: { class: 'session', param: 'session_id' }, params: SubagentParams } as const

export const subagentRoutes = {
  list: defineRoute({
    ...common,
    id: 'v2.subagents.tasks.list',
    method: 'GET',
    path: `${PREFIX}/tasks`,
    summary: 'Tasks that the session and those below it have delegated, the latest first.',
    success: { status: 200, description: 'Tasks.', schema: z.array(SubagentTask) },
  }),
  stop: defineRoute({
    ...common,
    access: { ...common.access, lease: 'free' },
    id: 'v2.subagents.tasks.stop',
    method: 'POST',
    path: `${PREFIX}/stop`,
    summary: 'Stop a task with everything below it, or all tasks of the session.',
    body: { schema: StopSubagentsRequest, required: true },
    success: { status: 200, description: 'What was stopped.', schema: StopSubagentsResult },
  }),
} as const
