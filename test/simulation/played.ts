/** The model and the tools of a simulated world: what they do follows from the prompt alone, not from when they are asked. */
import * as z from 'zod'
import { COMPACTION_PROMPT } from '../../src/actors/resource/catalog/agent-prompts.js'
import { type GenerateRequest, ProviderError } from '../../src/ports/provider-adapter.js'
import { defineTool, type NativePlugin, type ToolContribution, ToolError } from '../../src/ports/plugin.js'
import { calls, gate, type PlayedStep, playedPlugin, says } from '../../src/published/testing/steps.js'
import type { Called, Play } from './history.js'
import type { ExecutedCall } from './known.js'

const SUMMARISER = JSON.stringify(COMPACTION_PROMPT).slice(1, 80)
/** Of the workspace: what tools write there. */
const FILES = 'files'
/** As many tokens as the played model takes. */
const FULL = { input: 99_500, output: 5, reasoning: 0, cache: { read: 0, write: 0 } }

/** What waits for a step `release`, oldest first. */
interface Held {
  finishes(): void
  fails(): void
}

export interface Played {
  readonly plugin: NativePlugin
  readonly held: Held[]
  /** What the model does next, for a request. */
  next(request: GenerateRequest): PlayedStep
}

/** What the model does for prompts, by their names: `7`, and `7.0.1` for a task that its first answer delegates with its second call. */
export function playWorld(plays: Map<string, readonly Play[]>, noteExecution: (execution: ExecutedCall) => void): Played {
  const held: Held[] = []
  /** How often the model was asked for a prompt, in a session: runs of a workflow do the same again. */
  const attempts = new Map<string, number>()

  /** Resolves with its release; rejects with its failure, or when `signal` aborts. */
  async function hold(failure: Error, signal?: AbortSignal): Promise<void> {
    const settled = gate()
    const each: Held = { finishes: () => settled.open(), fails: () => settled.fail(failure) }
    const giveUp = () => settled.fail(new Error('aborted'))
    held.push(each)
    signal?.addEventListener('abort', giveUp, { once: true })
    if (signal?.aborted === true) giveUp()
    try {
      await settled.promise
    } finally {
      signal?.removeEventListener('abort', giveUp)
      const at = held.indexOf(each)
      if (at >= 0) held.splice(at, 1)
    }
  }

  const step =
    (name: string, attempt: number): PlayedStep =>
    async (push, signal, request) => {
      const play = plays.get(name)?.[attempt]
      const id = `p${name}.${attempt}`
      if (play === undefined) return says(`${id} is done`)(push, signal, request)
      for (let word = 0; word < play.words; word++) push({ type: 'text', delta: `${id}-${word} ` })
      if (play.as === 'fails') throw new ProviderError(`${id} failed`, { retryable: play.retryable })
      if (play.as === 'calls') {
        for (const at of play.tools.keys()) plays.set(`${name}.${attempt}.${at}`, play.below ?? [])
        return calls(...play.tools.map((tool, at) => callOf(tool, `${id}.${at}`, request)))(push, signal, request)
      }
      if (play.as === 'overflows') throw new ProviderError(`${id} is too much`, { retryable: false, overflow: true })
      if (play.as === 'cut') return
      if (play.as === 'fills') return push({ type: 'finish', reason: 'stop', usage: FULL })
      if (play.as === 'hangs') await hold(new ProviderError(`${id} failed`, { retryable: true }), signal)
      return endOf(id)(push, signal, request)
    }

  function next(request: GenerateRequest): PlayedStep {
    const name = nameOf(request)
    const asking = `${request.sessionId} ${name}`
    const attempt = attempts.get(asking) ?? 0
    attempts.set(asking, attempt + 1)
    return step(name, attempt)
  }

  return {
    held,
    next,
    plugin: playedPlugin({
      next,
      tools: () => (['answers', 'fails', 'holds', 'late', 'guarded', 'forbidden'] as const).map((how) => toolOf(how, hold, noteExecution)),
    }),
  }
}

const endOf = (id: string): PlayedStep => says(`${id} says`)

interface Call {
  readonly callId: string
  readonly tool: string
  readonly input: unknown
}

function callOf(tool: Called, callId: string, request: GenerateRequest): Call {
  const task = { description: callId, prompt: callId, subagent_type: 'general' }
  switch (tool) {
    case 'question':
      return { callId, tool, input: { questions: [{ question: callId }] } }
    case 'task':
      return { callId, tool, input: task }
    case 'waits':
      return { callId, tool: 'task', input: { ...task, background: false } }
    case 'more': {
      const known = /task_id: (\w+)/.exec(JSON.stringify(request.messages.toReversed()))?.[1]
      return { callId, tool: 'task', input: known === undefined ? task : { ...task, task_id: known } }
    }
    case 'writes':
      return { callId, tool: 'write', input: { filePath: `${FILES}/${callId.at(-1)}.txt`, content: callId } }
    case 'completes':
      return { callId, tool: 'complete_goal', input: { summary: callId } }
    case 'stops':
      return { callId, tool: 'stop_task', input: {} }
    case 'looks':
      return { callId, tool: 'task_result', input: {} }
    default:
      return { callId, tool, input: { id: callId } }
  }
}

function toolOf(
  how: string,
  hold: (failure: Error, signal?: AbortSignal) => Promise<void>,
  noteExecution: (execution: ExecutedCall) => void,
): ToolContribution {
  return defineTool({
    id: how,
    description: `It ${how}.`,
    input: z.strictObject({ id: z.string() }),
    permission: how,
    needs: async ({ id }) => [{ permission: how, patterns: [id], title: `${how} ${id}` }],
    async invoke({ id }, { sessionId, signal }) {
      noteExecution({ tool: how, sessionId, id })
      if (how === 'fails') throw new ToolError(`${id} failed`)
      if (how === 'holds') await hold(new ToolError(`${id} failed`), signal)
      if (how === 'late') await hold(new ToolError(`${id} failed`))
      return { title: how, output: `${id} is done` }
    },
  })
}

/** Of the newest prompt the model is shown; `0` = there is none. `7s`: of a summary. */
function nameOf({ messages }: GenerateRequest): string {
  const asked = JSON.stringify(messages.filter(({ role }) => role === 'user'))
  const isSummary = JSON.stringify(messages[0]).includes(SUMMARISER)
  const names = isSummary ? asked.matchAll(/\bp(\d+)\b/g) : asked.matchAll(/"p(\d+(?:\.\d+)*)[ .]*"/g)
  const newest = [...names].at(-1)?.[1] ?? '0'
  return isSummary ? `${newest}s` : newest
}
