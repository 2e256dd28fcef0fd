/** What an agent tells of its turn, as parts of the answer (subsystems l.4). Keeps what it needs of a turn, and nothing else. */
import * as z from 'zod'
import { cut } from '../../kernel/cut.js'
import type { ExecutedResult, StreamPart } from '../../ports/provider-adapter.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Todo } from '../../protocol/session/session.js'
import { isRecord } from '../../protocol/text/json.js'

const { text: SHOWN, paths: PATHS } = LIMITS.external
const OUTPUT = LIMITS.tools.outputBytes

const Chunk = z.looseObject({
  sessionUpdate: z.enum(['agent_message_chunk', 'agent_thought_chunk']),
  content: z.looseObject({ type: z.literal('text'), text: z.string() }),
})
const Content = z.union([
  z.looseObject({ type: z.literal('content'), content: z.looseObject({ type: z.literal('text'), text: z.string() }) }),
  z.looseObject({ type: z.literal('diff'), path: z.string() }),
  z.unknown(),
])
export const ToolCall = z.looseObject({
  toolCallId: z.string().min(1).max(512),
  title: z.string().nullish(),
  kind: z.string().max(64).nullish(),
  status: z.enum(['pending', 'in_progress', 'completed', 'failed']).nullish().catch(null),
  content: z.array(Content).nullish().catch(null),
  locations: z
    .array(z.looseObject({ path: z.string() }))
    .nullish()
    .catch(null),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
})
type ToolCall = z.infer<typeof ToolCall>
const CallUpdate = ToolCall.extend({ sessionUpdate: z.enum(['tool_call', 'tool_call_update']) })
const Plan = z.looseObject({
  sessionUpdate: z.literal('plan'),
  entries: z
    .array(z.looseObject({ content: z.string(), status: z.string(), priority: z.string().catch('medium') }))
    .max(LIMITS.external.options),
})
const Usage = z.looseObject({
  sessionUpdate: z.literal('usage_update'),
  used: z.number().int().min(0),
  size: z.number().int().min(0),
  cost: z
    .looseObject({ amount: z.number().min(0), currency: z.string() })
    .nullish()
    .catch(null),
})
export type AgentUsage = z.infer<typeof Usage>

const CHANGING = new Set(['edit', 'delete', 'move'])

interface Known {
  readonly tool: string
  title: string
  text: string
  input: unknown
  readonly paths: Set<string>
  state: 'pending' | 'accepted' | 'settled'
  /** What it gives to a subagent to do, where it says so. */
  prompt: string | undefined
}

/** Calls by which the agent gives work to another of its own. */
interface GivenWork {
  began(callId: string, work: { readonly title: string; readonly prompt: string }): void
  /** Whether the result is pushed by whoever was told, later. */
  ended(callId: string, result: ExecutedResult): boolean
}

export interface UpdatesOptions {
  readonly push: (part: StreamPart) => void
  /** Of the agent, for people. */
  readonly agent: string
  onPlan(todos: readonly Todo[]): void
  onUsage(usage: AgentUsage): void
  /** Whether the agent had this file written here, where undo knows of it. */
  isOurs(path: string): boolean
  /** Absent = such calls are shown as any other. */
  readonly work?: GivenWork
}

export interface Updates {
  /** Whether it was of use. */
  take(update: unknown): boolean
  /** A call is about to be asked for: it is shown before that. */
  call(call: ToolCall): void
  /** Something else comes: what is said afterwards stands after it. */
  pause(): void
  /** What it tells shows that this call, where it is known, gives work to a subagent. */
  delegate(callId: string): void
}

export function createUpdates({ push, agent, onPlan, onUsage, isOurs, work }: UpdatesOptions): Updates {
  const calls = new Map<string, Known>()
  /** Those that have given work to a subagent. */
  const giving = new Set<string>()
  /** What is said belongs to the passage under way, until something else comes. */
  let passage: 'text' | 'thought' | undefined
  let number = 0

  function turnTo(next: typeof passage): void {
    if (passage === next) return
    if (passage === 'thought') push({ type: 'reasoning-end', id: `thought-${number}` })
    if (passage === 'text') push({ type: 'text-end', id: `text-${number}` })
    passage = next
    number++
    if (next === 'thought') push({ type: 'reasoning-start', id: `thought-${number}` })
    if (next === 'text') push({ type: 'text-start', id: `text-${number}` })
  }

  function begun(id: string, { kind, title }: ToolCall): Known {
    turnTo(undefined)
    const tool = kind ?? 'other'
    push({ type: 'tool-input-start', callId: id, tool })
    const known: Known = { tool, title: title ?? tool, text: '', input: undefined, paths: new Set(), state: 'pending', prompt: undefined }
    calls.set(id, known)
    return known
  }

  function accept(id: string, known: Known): void {
    if (known.state !== 'pending') return
    known.state = 'accepted'
    const input = inputOf(known)
    known.input = undefined
    push({ type: 'tool-call', callId: id, tool: known.tool, input, executed: true })
  }

  /** Undefined = it is one more than are known of a turn. */
  function note(call: ToolCall): Known | undefined {
    const id = call.toolCallId
    const known = calls.get(id) ?? (calls.size < LIMITS.run.callsPerTurn ? begun(id, call) : undefined)
    if (known === undefined) return undefined
    if (call.title != null) known.title = cut(call.title, SHOWN)
    if (call.rawInput !== undefined && known.state === 'pending') known.input = call.rawInput
    const text = textOf(call)
    if (text !== '') known.text = text
    known.text = cut(`${known.text}${printedOf(call)}`, OUTPUT)
    notePaths(known, call)
    known.prompt ??= promptOf(known)
    return known
  }

  function delegate(id: string, known: Known): void {
    if (work === undefined || giving.has(id) || known.state === 'settled') return
    giving.add(id)
    accept(id, known)
    work.began(id, { title: known.title, prompt: known.prompt ?? known.title })
  }

  function told(call: ToolCall): void {
    const id = call.toolCallId
    const known = note(call)
    if (known === undefined || known.state === 'settled') return
    if (known.prompt !== undefined && call.status !== 'failed') delegate(id, known)
    const isOver = call.status === 'completed' || call.status === 'failed'
    if (isOver || call.status === 'in_progress') accept(id, known)
    if (!isOver) return
    known.state = 'settled'
    const result = resultOf(call, known, CHANGING.has(known.tool) && ![...known.paths].every(isOurs) ? agent : undefined)
    if (!giving.has(id) || work?.ended(id, result) !== true) push(result)
  }

  return {
    pause: () => turnTo(undefined),
    delegate(callId) {
      const known = calls.get(callId)
      if (known !== undefined) delegate(callId, known)
    },
    call(call) {
      const known = note(call)
      if (known !== undefined) accept(call.toolCallId, known)
    },
    take(update) {
      const chunk = Chunk.safeParse(update).data
      if (chunk !== undefined) {
        const isText = chunk.sessionUpdate === 'agent_message_chunk'
        turnTo(isText ? 'text' : 'thought')
        push(
          isText ? { type: 'text', delta: chunk.content.text } : { type: 'reasoning', id: `thought-${number}`, delta: chunk.content.text },
        )
        return true
      }
      const call = CallUpdate.safeParse(update).data
      if (call !== undefined) {
        told(call)
        return true
      }
      return takeRest(update, { onPlan, onUsage })
    },
  }
}

/** What is no part of the answer. */
function takeRest(update: unknown, { onPlan, onUsage }: Pick<UpdatesOptions, 'onPlan' | 'onUsage'>): boolean {
  const plan = Plan.safeParse(update).data
  if (plan !== undefined) {
    onPlan(plan.entries.map(({ content, status, priority }) => ({ content: cut(content, SHOWN), status, priority })))
    return true
  }
  const usage = Usage.safeParse(update).data
  if (usage !== undefined) onUsage(usage)
  return usage !== undefined
}

/** Stands for files that are not known: no file has that path. */
const OTHERS = ''

function notePaths({ paths }: Known, call: ToolCall): void {
  for (const path of pathsOf(call)) paths.add(paths.has(path) || (paths.size < PATHS && path.length <= SHOWN) ? path : OTHERS)
}

/** `changer`: the agent that has changed files itself. */
function resultOf({ toolCallId, status }: ToolCall, { tool, title, text }: Known, changer: string | undefined): ExecutedResult {
  const isError = status === 'failed'
  const unkept = changer === undefined ? {} : { unkept: `the agent "${changer}" has changed files itself` }
  const shown = { title, text: text === '' && isError ? 'The agent says that it has failed.' : text, metadata: unkept }
  return { type: 'tool-result', callId: toolCallId, tool, output: text, isError, shown }
}

const WORK = /agent|task/i

/** As agents call it: some have no kind for it, others no name. */
function promptOf({ tool, title, input }: Known): string | undefined {
  const prompt = isRecord(input) ? input['prompt'] : undefined
  if (typeof prompt !== 'string' || prompt.trim() === '') return undefined
  return tool === 'think' || WORK.test(tool) || WORK.test(title) ? cut(prompt, OUTPUT) : undefined
}

/** What the call was given, as JSON; a title where the agent says no more. */
function inputOf({ input, title }: Known): string {
  const given = JSON.stringify(input ?? { title }) ?? '{}'
  return Buffer.byteLength(given) > LIMITS.run.callBytes ? JSON.stringify({ title }) : given
}

function textOf({ content, rawOutput }: ToolCall): string {
  const texts = (content ?? []).flatMap((each) => {
    const text = z.looseObject({ content: z.looseObject({ text: z.string() }) }).safeParse(each).data?.content.text
    const path = z.looseObject({ type: z.literal('diff'), path: z.string() }).safeParse(each).data?.path
    return text ?? (path === undefined ? [] : `changed ${path}`)
  })
  if (texts.length > 0) return texts.join('\n')
  if (rawOutput === undefined || rawOutput === null) return ''
  return typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput)
}

/** A convention of editors: what a command of the agent's own has printed comes beside its updates, a piece at a time. */
const Printed = z.looseObject({ data: z.string() })
const Meta = z.looseObject({
  terminal_output: Printed.optional().catch(undefined),
  terminal_output_delta: Printed.optional().catch(undefined),
})

function printedOf({ _meta }: ToolCall): string {
  const { terminal_output: whole, terminal_output_delta: piece } = Meta.safeParse(_meta).data ?? {}
  return (piece ?? whole)?.data ?? ''
}

function pathsOf({ content, locations }: ToolCall): readonly string[] {
  const diffs = (content ?? []).flatMap(
    (each) => z.looseObject({ type: z.literal('diff'), path: z.string() }).safeParse(each).data?.path ?? [],
  )
  return [...diffs, ...(locations ?? []).map(({ path }) => path)]
}
