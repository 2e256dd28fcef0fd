/** Work that plugins of others delegate (`BrokerDoors.tasks`): by the built-in tool "task", in the foreground of the call that the plugin is in. */
import { SvcError } from '../../protocol/errors.js'
import type { DelegatedTask, TaskDoor, TaskOutcome } from '../../ports/broker-doors.js'
import { type ToolContext, ToolError } from '../../ports/plugin.js'
import { messageOf } from '../../protocol/message-of.js'
import type { Rows, Sources } from '../session/state/core.js'
import { outcomeOf } from './sessions.js'

const TOOL = 'task'
const OWNER = 'dev.svc.subagents'

type Core = Rows & Pick<Sources, 'plugins'>

export function createTaskDoor(core: Core): TaskDoor {
  return {
    async run(call, task, { signal, onBegun }) {
      let taskId: string | undefined
      const context: ToolContext = {
        ...call,
        signal: AbortSignal.any([call.signal, signal]),
        progress({ sessionId }) {
          if (typeof sessionId !== 'string' || taskId !== undefined) return
          taskId = sessionId
          onBegun(sessionId)
        },
      }
      try {
        await delegate(core, context, task)
        return outcome(core, taskId, 'completed', '')
      } catch (error) {
        if (taskId === undefined) throw error instanceof ToolError ? new SvcError('request.unprocessable', error.message) : error
        const isStopped = signal.aborted || call.signal.aborted || (error instanceof ToolError && error.metadata?.['status'] === 'stopped')
        return outcome(core, taskId, isStopped ? 'stopped' : 'failed', messageOf(error))
      }
    },
  }
}

async function delegate({ plugins }: Core, context: ToolContext, { agent, description, prompt }: DelegatedTask): Promise<void> {
  const tool = plugins.current(context.directory, context.sessionId).tool(TOOL)
  if (tool?.pluginId !== OWNER)
    throw new SvcError('request.unprocessable', 'nothing can be delegated here: the plugin "dev.svc.subagents" is switched off')
  const input = tool.contribution.input.parse({ description, prompt, subagent_type: agent, background: false })
  const needs = await tool.contribution.needs(input, context)
  for (const { permission, patterns } of needs)
    if (context.decisions(permission, patterns).includes('deny'))
      throw new SvcError('request.forbidden', `a permission rule of the run denies ${permission} for ${patterns.join(', ')}`)
  await tool.use(() => tool.contribution.invoke(input, context))
}

function outcome(core: Core, taskId: string | undefined, status: TaskOutcome['status'], message: string): TaskOutcome {
  if (taskId === undefined || core.store.sessions.get(taskId) === undefined) return { status, text: message, usage: undefined }
  const { text } = outcomeOf(core, taskId)
  const usage = core.store.messages.usage(core.store.sessions.family(taskId))
  return { status, text: status === 'completed' ? text : message, usage }
}
