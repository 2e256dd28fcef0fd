/** Tools a test plays: their calls wait until the test settles them. */
import * as z from 'zod'
import { defineTool, type ToolContext, type ToolContribution, ToolError, type ToolResult } from '../../ports/plugin.js'
import { gate } from './steps.js'
import type { HeldCall, TestTool, TestToolOptions } from './tool-types.js'
import type { Waits } from './waits.js'

export interface PlayedTools {
  readonly contributions: readonly ToolContribution[]
  tool(id: string): TestTool
}

type Input = Readonly<Record<string, unknown>>

const ANY_OBJECT = { type: 'object' } as const

export function playTools(declared: readonly (string | TestToolOptions)[], waits: Waits): PlayedTools {
  const played = new Map(
    declared.map((each) => {
      const options = typeof each === 'string' ? { id: each } : each
      return [options.id, playTool(options, waits)] as const
    }),
  )
  return {
    contributions: [...played.values()].map(({ contribution }) => contribution),
    tool(id) {
      const found = played.get(id)?.tool
      if (found === undefined) {
        const names = [...played.keys()].join(', ') || 'none'
        throw new Error(
          `no tool "${id}" is played; name it in the options of startTestRuntime, as in { tools: ['${id}'] }. Played: ${names}.`,
        )
      }
      return found
    },
  }
}

function playTool(options: TestToolOptions, waits: Waits): { readonly tool: TestTool; readonly contribution: ToolContribution } {
  const { id, description = `The ${id} tool.`, permission = id, ignoresAbort = false } = options
  const calls: HeldCall[] = []
  const listeners = new Set<() => void>()
  let taken = 0
  let answer: ((input: Input) => string | Promise<string>) | undefined

  function called({ withinMs }: { readonly withinMs?: number } = {}): Promise<HeldCall> {
    const index = taken++
    return waits.until<HeldCall>(
      {
        what: `call ${index + 1} of the tool "${id}"`,
        withinMs,
        listen(resolve) {
          const look = () => {
            const call = calls[index]
            if (call !== undefined) resolve(call)
          }
          listeners.add(look)
          look()
          return () => void listeners.delete(look)
        },
        found: () => `It was called ${calls.length} times.`,
      },
      called,
    )
  }

  async function invoke(input: Input, context: ToolContext): Promise<ToolResult> {
    const { callId, sessionId, signal } = context
    const settled = gate<string>()
    calls.push({
      input,
      callId,
      sessionId,
      signal,
      progress: (metadata) => context.progress(metadata),
      finishes: (output) => settled.open(output),
      fails: (message) => settled.fail(new ToolError(message)),
    })
    const giveUp = () => settled.fail(new ToolError('The call was aborted.'))
    if (!ignoresAbort) signal.addEventListener('abort', giveUp, { once: true })
    for (const look of listeners) look()
    try {
      const output = answer === undefined ? await settled.promise : await answer(input)
      return { title: id, output }
    } finally {
      signal.removeEventListener('abort', giveUp)
      settled.promise.catch(() => undefined)
    }
  }

  const contribution = defineTool<Input>({
    id,
    description,
    input: z.record(z.string(), z.unknown()),
    parameters: options.parameters ?? ANY_OBJECT,
    permission,
    needs: async (input) => {
      const pattern = JSON.stringify(input)
      return [{ permission, patterns: [pattern], title: `${id} ${pattern}` }]
    },
    invoke,
  })
  const tool: TestTool = {
    id,
    calls,
    called,
    answers(given) {
      answer = typeof given === 'string' ? () => given : given
    },
  }
  return { tool, contribution }
}
