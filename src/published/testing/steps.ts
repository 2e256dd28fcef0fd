/** Steps of a played model, and the plugin that plays them. */
import type { NativeHost, NativePlugin, ToolContribution } from '../../ports/plugin.js'
import type { GenerateRequest, StreamPart } from '../../ports/provider-adapter.js'

export type Push = (part: StreamPart) => void

/** One model step, played: pushes its parts; it may wait for whatever the test releases. */
export type PlayedStep = (push: Push, signal: AbortSignal, request: GenerateRequest) => Promise<void> | void

const USAGE = { input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } }

/** A step that says `text` and ends. */
export const says =
  (text: string, reason = 'stop'): PlayedStep =>
  (push) => {
    for (const delta of text.split(/(?<= )/)) push({ type: 'text', delta })
    push({ type: 'finish', reason, usage: USAGE })
  }

/** A step that calls tools and ends. */
export const calls =
  (...list: readonly { callId: string; tool: string; input?: unknown }[]): PlayedStep =>
  (push) => {
    for (const { callId, tool, input } of list) push({ type: 'tool-call', callId, tool, input: JSON.stringify(input ?? { value: callId }) })
    push({ type: 'finish', reason: 'tool-calls', usage: USAGE })
  }

/** A promise with its handles outside. */
export function gate<T = void>(): { readonly promise: Promise<T>; open(value: T): void; fail(error: Error): void } {
  let open: (value: T) => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

const MODEL = { name: 'Played', toolCall: true, limit: { context: 100_000, output: 1000 } }

/** Configuration that makes the played model the default one, and allows every tool. */
export const PLAYED_CONFIG = {
  model: 'played/one',
  permission: { '*': 'allow' },
  provider: { played: { npm: 'played', auth: 'none', options: { baseURL: 'http://127.0.0.1:9/v1' }, models: { one: MODEL } } },
}

export interface PlayedPluginParts {
  /** Asked for every step; the request was noted already. */
  next(request: GenerateRequest): PlayedStep
  tools(host: NativeHost): readonly ToolContribution[]
}

/** A native plugin with the model and the tools of a test. */
export function playedPlugin({ next, tools }: PlayedPluginParts): NativePlugin {
  return {
    id: 'test.played',
    name: 'Played',
    start: (host) => ({
      providers: [
        {
          npm: ['played'],
          create: () => ({
            async generate(request, push, signal) {
              await next(request)(push, signal, request)
            },
          }),
        },
      ],
      tools: tools(host),
    }),
  }
}
