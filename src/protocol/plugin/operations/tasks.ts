/** `host.task.spawn` and `host.task.cancel` (capability `task-spawn`): work that is delegated to an agent in a session of its own. */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'
import { FOREIGN_SESSION, NOT_OPEN, opaqueId, sessionId, waitMs } from './served.js'

const limits = LIMITS.pluginTasks

const task = {
  opaqueId,
  /** The session it is carried out in, whose messages `message-read` reaches. */
  sessionId: z.string(),
  agent: z.string(),
  description: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'stopped']),
  /** What it answered, or why it failed; null while it runs. */
  text: z.string().nullable(),
  /** What it has cost, once it has ended. */
  usage: z.strictObject({ cost: z.number(), inputTokens: z.int(), outputTokens: z.int() }).nullable(),
}

export const taskOperations = {
  spawn: describeOperation({
    summary: 'Delegates a task to an agent, below the session in whose tool call the plugin is.',
    input: z.strictObject({
      agent: z.string().min(1).max(200).default('general'),
      description: z.string().min(1).max(LIMITS.subagents.description),
      prompt: z.string().min(1).max(LIMITS.subagents.prompt),
      /** Milliseconds after which it is stopped. */
      timeoutMs: z.int().min(1000).max(limits.timeMost).default(limits.time),
      sessionId,
    }),
    output: z.strictObject(task),
    waits: true,
    refusals: [
      'the plugin is in no tool call of a session, or of several and `sessionId` does not say which: what a task may do is what the run may that called the plugin',
      'a rule of the run denies the agent to the tool "task"',
      'there is no such agent, or it takes no tasks',
      'the session, or its family, has as many tasks as it may have, or as many levels of them',
      'as many as may run at a time are running',
      FOREIGN_SESSION,
    ],
  }),
  status: describeOperation({
    summary: 'Answers how a task is by now.',
    input: z.strictObject({ opaqueId }),
    output: z.strictObject(task),
    refusals: [NOT_OPEN],
  }),
  wait: describeOperation({
    summary: 'Answers when a task has ended, or when the time is over.',
    input: z.strictObject({ opaqueId, waitMs: waitMs(limits.wait) }),
    output: z.strictObject(task),
    waits: true,
    refusals: [NOT_OPEN],
  }),
  list: describeOperation({
    summary: 'Lists the tasks of this instance that run, or are remembered.',
    input: z.strictObject({}).nullish(),
    output: z.strictObject({ tasks: z.array(z.strictObject(task)) }),
    refusals: [],
  }),
}
