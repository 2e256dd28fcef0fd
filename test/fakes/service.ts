import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { EventSubscription, Runtime } from '../../src/ports/facades.js'
import {
  defineTool,
  type NativeHost,
  type NativePlugin,
  type PermissionNeed,
  type ToolContext,
  type ToolResult,
} from '../../src/ports/plugin.js'
import type { GenerateRequest } from '../../src/ports/provider-adapter.js'
import type { RunningRuntime } from '../../src/actors/runtime/runtime.js'
import { begin } from '../../src/published/testing/begin.js'
import type { SeenEvent } from '../../src/published/testing/heard.js'
import { type PlayedStep, playedPlugin } from '../../src/published/testing/steps.js'
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Message, PromptRequest } from '../../src/protocol/message/message.js'
import type { Store } from '../../src/store/store.js'
import { createFakeEffects, type FakeEffects } from './effects.js'
import { NO_NATIVE_CODE } from './native-code.js'

export { type SeenEvent } from '../../src/published/testing/heard.js'
export { calls, gate, type PlayedStep, says } from '../../src/published/testing/steps.js'

export interface PlayedTool {
  readonly id: string
  readonly permission?: string
  needs?(input: { value: string }): readonly PermissionNeed[]
  invoke(input: { value: string }, context: ToolContext, host: NativeHost): Promise<ToolResult>
}

export interface TestService {
  readonly runtime: Runtime
  readonly running: RunningRuntime
  /** The subscription behind `events`; closed, nobody listens any more. */
  readonly listening: EventSubscription
  readonly effects: FakeEffects
  readonly store: Store
  /** Directory sessions are created in. */
  readonly directory: string
  /** Everything published since the start, in order. */
  readonly events: readonly SeenEvent[]
  /** What the model was sent, one entry per step. */
  readonly requests: readonly GenerateRequest[]
  /** Steps still to be played, in order; tests may add to it at any time. */
  readonly steps: PlayedStep[]
  /** Resolves with the first event, past or future, that fits. */
  until(fits: (event: SeenEvent) => boolean): Promise<SeenEvent>
  /** Resolves when the session is idle after everything submitted so far. */
  idle(sessionId: string): Promise<void>
  session(options?: Record<string, unknown>): Promise<string>
  prompt(sessionId: string, request: PromptRequest | string): Promise<void>
  messages(sessionId: string): Message[]
  stop(): Promise<void>
}

export async function startTestService(
  options: {
    tools?: readonly PlayedTool[]
    config?: Record<string, unknown>
    store?: Store
    effects?: FakeEffects
    steps?: PlayedStep[]
    /** Further native plugins. */
    plugins?: readonly NativePlugin[]
    luaSandbox?: string
    inspectPayloads?: boolean
  } = {},
): Promise<TestService> {
  const effects = options.effects ?? createFakeEffects()
  const directory = effects.paths.cwd
  const steps = options.steps ?? []
  const requests: GenerateRequest[] = []
  const played = playedPlugin({
    next(request) {
      requests.push(request)
      const step = steps.shift()
      if (step === undefined) throw new Error('no step is left to play')
      return step
    },
    tools: (host) => (options.tools ?? []).map((tool) => toolOf(tool, host)),
  })
  const { running, store, heard, stop } = await begin({
    effects,
    store: options.store,
    plugins: [played, ...(options.plugins ?? [])],
    config: options.config,
    inspectPayloads: options.inspectPayloads,
    version: '0.0.0-test',
    programs: {
      node: process.execPath,
      luaSandbox: options.luaSandbox ?? '/nowhere/lua-sandbox.js',
      toolbox: '/nowhere/toolbox.js',
      native: NO_NATIVE_CODE,
    },
  })
  const { runtime } = running
  onTestFinished(stop)

  return {
    runtime,
    running,
    listening: heard.subscription,
    effects,
    store,
    directory,
    events: heard.events,
    requests,
    steps,
    until(fits) {
      const past = heard.events.find(fits)
      if (past !== undefined) return Promise.resolve(past)
      return new Promise((resolve) => {
        const end = heard.listen((event) => {
          if (!fits(event)) return
          end()
          resolve(event)
        })
      })
    },
    idle: (sessionId) => runtime.sessions.wait(sessionId, new AbortController().signal),
    session: async (request = {}) => (await runtime.sessions.create(TRUSTED_CALLER, directory, { title: 'Test', ...request })).id,
    prompt: (sessionId, request) =>
      runtime.sessions.submitPrompt(TRUSTED_CALLER, sessionId, typeof request === 'string' ? { prompt: request } : request, 'prompt'),
    messages: (sessionId) => JSON.parse(runtime.sessions.context(sessionId).rawJson) as Message[],
    stop,
  }
}

function toolOf(tool: PlayedTool, host: NativeHost) {
  return defineTool({
    id: tool.id,
    description: `The ${tool.id} tool.`,
    input: z.strictObject({ value: z.string() }),
    permission: tool.permission ?? tool.id,
    needs: async (input) => tool.needs?.(input) ?? [],
    invoke: (input, context) => tool.invoke(input, context, host),
  })
}
