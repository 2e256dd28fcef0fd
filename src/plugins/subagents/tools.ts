/** The tools `task`, `task_result` and `stop_task` (sessions-events §10.4, §10.12). */
import * as z from 'zod'
import {
  defineTool,
  type NativeHost,
  type PermissionNeed,
  type ToolContext,
  type ToolContribution,
  ToolError,
  type ToolResult,
} from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import type { PermissionRule } from '../../protocol/interaction/interaction.js'
import { LIMITS } from '../../protocol/limits.js'
import { UserModel } from '../../protocol/message/message.js'
import type { Agent } from '../../protocol/resource/resource.js'
import type { Session } from '../../protocol/session/session.js'
import type { ChangeNotes } from '../../protocol/session/snapshot.js'
import { changesOfTask } from './changes.js'
import { foreignNeeds, foreignSession, foreignTarget } from './foreign.js'
import type { Delegation } from './delegation.js'
import type { Resumer } from './resumed.js'
import { shownTask, type Task } from './ledger.js'

const { description: DESCRIPTION_LENGTH, prompt: PROMPT_LENGTH } = LIMITS.subagents

const shape = {
  description: z.string().min(1).max(DESCRIPTION_LENGTH).describe('The task in three to ten words.'),
  prompt: z
    .string()
    .min(1)
    .max(PROMPT_LENGTH)
    .describe('The whole task. The agent sees nothing else: name files, say what to answer with.'),
  subagent_type: z.string().min(1).max(200).describe('Name of the agent.'),
  task_id: z.string().max(100).optional().describe('More work for a task that was delegated before, with what it knows by then.'),
  background: z.boolean().optional().describe('Default true: you go on and are told when it has ended. False: wait for its answer.'),
  command: z.string().max(10_000).optional().describe('The command this stands for, if any.'),
}
const TaskInput = z.strictObject(shape)
/** Only who writes a command or a subtask part names a model: one that a model chose would spend at any provider there is. */
const PromptInput = TaskInput.extend({ model: UserModel.optional() })
type TaskInput = z.infer<typeof PromptInput>

const TASK = `Delegates a task to another agent, which works in a session of its own and answers once.
- Agents there always are: "general" (research and changes of several steps) and "explore" (finds things in the code, changes nothing). Others are named in your instructions.
- Delegate what is independent of your own work, several tasks at once where they are independent of each other. Do small things yourself.
- In the background you are told when it has ended. Do not wait, do not poll, do not do its work yourself.`

const RESULT =
  'Shows what became of a task, or lists your tasks without an id. You are told of every task that has ended; there is no need to ask.'
const STOP = 'Stops a task with everything below it, or all your tasks without an id. Nothing is told of a stopped task afterwards.'

const One = z.strictObject({ task_id: z.string().max(100).optional() })

export type ToolDeps = {
  readonly host: Pick<NativeHost, 'sessions' | 'agents' | 'fileStates' | 'effects'>
  readonly delegation: Delegation
}

export function taskTools(deps: ToolDeps): readonly ToolContribution[] {
  return [taskTool(deps), resultTool(deps), stopTool(deps)]
}

function taskTool({ host, delegation }: ToolDeps): ToolContribution {
  return defineTool<TaskInput>({
    id: 'task',
    description: TASK,
    input: TaskInput,
    ofPrompt: PromptInput,
    permission: 'task',
    notesChanges: true,
    needs: async (input, context) => [needOf(input), ...(await foreignNeeds({ host, delegation }, input, context))],
    async invoke(input, context) {
      const parent = host.sessions.get(context.sessionId)
      if (parent === undefined) throw new ToolError('The session is gone.')
      const isForeground = input.background === false
      const since = host.effects.clock.now()
      const task = await asToolError(async () =>
        input.task_id === undefined
          ? delegation.start(await newTask(host, input, parent, context), context.signal)
          : delegation.resume(mustFind(delegation, context.sessionId, input.task_id), input.prompt, resumerOf(context)),
      )
      context.progress({ sessionId: task.id, agent: task.agent, status: 'running', background: !isForeground })
      const { id: sessionId, directory } = parent
      const notes = () => changesOfTask(host, task.id, { sessionId, directory }, since)
      return isForeground
        ? answerOf({ host, delegation }, task, { notes, signal: context.signal })
        : startedIn(task, input.task_id !== undefined)
    },
  })
}

function needOf({ subagent_type: agent, description }: TaskInput): PermissionNeed {
  return { permission: 'task', patterns: [agent], title: `Delegate to ${agent}: ${description}`, metadata: { agent, description } }
}

function resumerOf({ sessionId, agent, refused = [] }: ToolContext): Resumer {
  return { sessionId, agent, refused }
}

async function newTask(host: ToolDeps['host'], input: TaskInput, parent: Session, context: ToolContext) {
  const foreign = await foreignTarget(host, input, parent)
  const target = foreign === undefined ? await ownTarget(host, input, parent) : foreignTask(foreign, input, parent)
  return {
    parent,
    messageId: context.messageId,
    prompt: input.prompt,
    agent: foreign ?? input.subagent_type,
    description: input.description,
    isForeground: input.background === false,
    unattended: context.unattended === true,
    request: { ...target, ...(parent.workspaceId !== undefined && { workspaceId: parent.workspaceId }) },
    extra: {
      delegation: { agent: context.agent, refused: context.refused ?? [] },
      ...(foreign !== undefined && foreignSession(foreign)),
    },
  }
}

function foreignTask(provider: string, { description, model }: TaskInput, parent: Session) {
  if (model !== undefined) throw new ToolError(`The agent "${provider}" answers with models of its own: the task names none.`)
  return { title: `${description} (@${provider} external)`, permission: rulesFor(parent, {}) }
}

async function ownTarget(host: ToolDeps['host'], input: TaskInput, parent: Session) {
  const agents = (await host.agents(parent.directory, parent.id)).filter(({ mode, hidden }) => mode !== 'primary' && !hidden)
  const agent = agents.find(({ name }) => name === input.subagent_type)
  if (agent === undefined)
    throw new ToolError(
      `There is no agent "${input.subagent_type}" to delegate to. Available: ${agents.map(({ name }) => name).join(', ')}.`,
    )
  const model = input.model ? refOf(input.model) : (agent.model ?? parent.model)
  const title = input.command === undefined ? `${input.description} (@${agent.name} subagent)` : `Task: ${input.command}`
  return { title, agent: agent.name, permission: rulesFor(parent, agent), ...(model !== undefined && { model }) }
}

function refOf({ modelId: id, ...rest }: UserModel) {
  return { ...rest, id }
}

/** The rules of the caller count as well, and the strictest of both; what is said here is what a session says of itself (§8.12). */
function rulesFor({ permission = [] }: Session, agent: Partial<Pick<Agent, 'permission'>>): PermissionRule[] {
  const inherited = permission.filter(({ permission: group, action }) => action === 'deny' || group === 'external_directory')
  const own = ['todowrite', 'task'].filter((tool) => !isAllowed(agent.permission?.[tool]))
  return [...inherited, ...own.map((tool): PermissionRule => ({ permission: tool, pattern: '*', action: 'deny' }))]
}

/** Says of the tool itself that it may be used, be it only sometimes. */
function isAllowed(said: unknown): boolean {
  if (typeof said === 'object' && said !== null) return Object.values(said).some(isAllowed)
  return said === 'allow' || said === 'ask'
}

function startedIn({ id, agent, description }: Task, isMore: boolean): ToolResult {
  const status = isMore ? 'queued' : 'running'
  return {
    title: description,
    output: `task_id: ${id}\nstatus: ${status}\nIt works in the background. You are told when it has ended: go on with other work, or end your answer now.`,
    metadata: { sessionId: id, agent, status, background: true },
  }
}

/** The caller that does not wait any more takes the task with it. */
async function answerOf(
  { host, delegation }: ToolDeps,
  task: Task,
  { notes, signal }: { readonly notes: () => Promise<ChangeNotes>; readonly signal: AbortSignal },
): Promise<ToolResult> {
  const abort = () => void delegation.stop([task])
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    const ended = await asToolError(() => delegation.ended(task.id))
    const { id, agent, description, report } = ended
    const status = shownTask(ended, task.parentId).status
    const metadata = { sessionId: id, agent, status, background: false, ...usageOf(host, id), ...(await notes()) }
    const text = `task_id: ${id}\nstatus: ${status}\n<task_result>\n${report?.text ?? ''}\n</task_result>`
    if (status === 'completed') return { title: description, output: text, metadata }
    throw new ToolError(status === 'stopped' ? `The task ${id} was stopped.` : `The task failed.\n${text}`, metadata)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function usageOf({ sessions }: ToolDeps['host'], id: string) {
  return sessions.get(id) === undefined ? {} : { usage: sessions.usage(id) }
}

function resultTool({ host, delegation }: ToolDeps): ToolContribution {
  return defineTool<z.infer<typeof One>>({
    id: 'task_result',
    description: RESULT,
    input: One,
    permission: 'task_result',
    needs: async () => [{ permission: 'task_result', patterns: ['*'], title: 'Look at delegated tasks' }],
    async invoke({ task_id: id }, { sessionId }) {
      if (id === undefined) {
        const tasks = delegation.tasksOf(sessionId).map((task) => shownTask(task, sessionId))
        const lines = tasks.map(
          ({ id: taskId, agent, status, description, nested }) =>
            `${taskId} ${status} @${agent}${nested ? ' (nested)' : ''} ${description}`,
        )
        return { title: `${tasks.length} tasks`, output: lines.join('\n') || 'No task was delegated.', metadata: { tasks } }
      }
      const task = shownTask(mustFind(delegation, sessionId, id), sessionId)
      const result = task.result === undefined ? '' : `\n<task_result>\n${task.result}\n</task_result>`
      return {
        title: task.description,
        output: `task_id: ${id}\nstatus: ${task.status}${result}`,
        metadata: { sessionId: id, agent: task.agent, status: task.status, ...usageOf(host, id) },
      }
    },
  })
}

function stopTool({ delegation }: ToolDeps): ToolContribution {
  return defineTool<z.infer<typeof One>>({
    id: 'stop_task',
    description: STOP,
    input: One,
    permission: 'stop_task',
    needs: async () => [{ permission: 'stop_task', patterns: ['*'], title: 'Stop delegated tasks' }],
    async invoke({ task_id: id }, { sessionId }) {
      const { stopped, clearedPrompts } = await (id === undefined
        ? delegation.stopAll(sessionId)
        : delegation.stop([mustFind(delegation, sessionId, id)]))
      const output = stopped.length === 0 ? 'No task was running.' : `Stopped: ${stopped.join(', ')}.`
      return { title: `Stopped ${stopped.length} tasks`, output, metadata: { stopped, clearedPrompts } }
    },
  })
}

function mustFind(delegation: Delegation, sessionId: string, taskId: string): Task {
  const task = delegation.find(sessionId, taskId)
  if (task === undefined) throw new ToolError(`There is no task "${taskId}" of yours. Without an id, task_result lists those there are.`)
  return task
}

async function asToolError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof SvcError ? new ToolError(error.message) : error
  }
}
