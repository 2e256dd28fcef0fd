/** The model and the tools of a simulated world: what they do follows from the prompt alone, not from when they are asked. */
import * as z from 'zod'
import { type GenerateRequest, ProviderError } from '../../src/ports/provider-adapter.js'
import { defineTool, type NativePlugin, type ToolContribution, ToolError } from '../../src/ports/plugin.js'
import { calls, gate, type PlayedStep, playedPlugin, says } from '../../src/published/testing/steps.js'
import type { Called, Play } from './history.js'

/** What waits for a step `release`, oldest first. */
interface Held {
  finishes(): void
  fails(): void
}

export interface Played {
  readonly plugin: NativePlugin
  readonly held: Held[]
}

/** `playsOf`: of a prompt, by its name. `takeAttempt`: how often the model was asked for it before. */
export function playWorld(playsOf: (name: number) => readonly Play[], takeAttempt: (name: number) => number): Played {
  const held: Held[] = []

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
    (name: number, attempt: number): PlayedStep =>
    async (push, signal, request) => {
      const play = playsOf(name)[attempt]
      const id = `p${name}.${attempt}`
      if (play === undefined) return says(`${id} is done`)(push, signal, request)
      for (let word = 0; word < play.words; word++) push({ type: 'text', delta: `${id}-${word} ` })
      if (play.as === 'fails') throw new ProviderError(`${id} failed`, { retryable: play.retryable })
      if (play.as === 'calls') return calls(...play.tools.map((tool, at) => callOf(tool, `${id}.${at}`)))(push, signal, request)
      if (play.as === 'cut') return
      if (play.as === 'hangs') await hold(new ProviderError(`${id} failed`, { retryable: true }), signal)
      return endOf(id)(push, signal, request)
    }

  return {
    held,
    plugin: playedPlugin({
      next(request) {
        const name = nameOf(request)
        return step(name, takeAttempt(name))
      },
      tools: () => (['answers', 'fails', 'holds', 'late', 'guarded'] as const).map((how) => toolOf(how, hold)),
    }),
  }
}

const endOf = (id: string): PlayedStep => says(`${id} says`)

function callOf(tool: Called, callId: string): { callId: string; tool: string; input: unknown } {
  const input = tool === 'question' ? { questions: [{ question: callId }] } : { id: callId }
  return { callId, tool, input }
}

function toolOf(how: Exclude<Called, 'question'>, hold: (failure: Error, signal?: AbortSignal) => Promise<void>): ToolContribution {
  return defineTool({
    id: how,
    description: `It ${how}.`,
    input: z.strictObject({ id: z.string() }),
    permission: how,
    needs: async ({ id }) => [{ permission: how, patterns: [id], title: `${how} ${id}` }],
    async invoke({ id }, { signal }) {
      if (how === 'fails') throw new ToolError(`${id} failed`)
      if (how === 'holds') await hold(new ToolError(`${id} failed`), signal)
      if (how === 'late') await hold(new ToolError(`${id} failed`))
      return { title: how, output: `${id} is done` }
    },
  })
}

/** Of the newest prompt the model is shown; 0 = there is none. */
function nameOf({ messages }: GenerateRequest): number {
  const names = [...JSON.stringify(messages).matchAll(/"p(\d+)"/g)]
  return Number(names.at(-1)?.[1] ?? 0)
}
