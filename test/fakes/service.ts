import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { EventSubscription, FrameSink, Runtime } from '../../src/actors/facades.js'
import {
  defineTool,
  type NativeHost,
  type NativePlugin,
  type PermissionNeed,
  type ToolContext,
  type ToolResult,
} from '../../src/actors/plugin/native.js'
import type { GenerateRequest, StreamPart } from '../../src/actors/provider/adapter.js'
import { createRuntime, type RunningRuntime } from '../../src/actors/runtime.js'
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Message, PromptRequest } from '../../src/protocol/message.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { createFakeEffects, type FakeEffects } from './effects.js'

/** One model step, played: pushes its parts; it may wait for whatever the test releases. */
export type PlayedStep = (push: (part: StreamPart) => void, signal: AbortSignal, request: GenerateRequest) => Promise<void> | void

export interface SeenEvent {
  readonly id: string
  readonly sequence: number
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: Readonly<Record<string, any>>
}

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

function playedPlugin(steps: PlayedStep[], requests: GenerateRequest[], tools: readonly PlayedTool[]): NativePlugin {
  return {
    id: 'test.played',
    name: 'Played',
    capabilities: [],
    start: (host) => ({
      providers: [
        {
          npm: ['played'],
          create: () => ({
            async generate(request, push, signal) {
              requests.push(request)
              const step = steps.shift()
              if (step === undefined) throw new Error('no step is left to play')
              await step(push, signal, request)
            },
          }),
        },
      ],
      tools: tools.map((tool) =>
        defineTool({
          id: tool.id,
          description: `The ${tool.id} tool.`,
          input: z.strictObject({ value: z.string() }),
          permission: tool.permission ?? tool.id,
          needs: async (input) => tool.needs?.(input) ?? [],
          invoke: (input, context) => tool.invoke(input, context, host),
        }),
      ),
    }),
  }
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
  } = {},
): Promise<TestService> {
  const effects = options.effects ?? createFakeEffects()
  const directory = join(effects.root, 'work')
  const model = { name: 'Played', toolCall: true, limit: { context: 100_000, output: 1000 } }
  const config = {
    model: 'played/one',
    permission: { '*': 'allow' },
    provider: { played: { npm: 'played', auth: 'none', options: { baseURL: 'http://127.0.0.1:9/v1' }, models: { one: model } } },
    ...options.config,
  }
  mkdirSync(effects.paths.config, { recursive: true })
  writeFileSync(join(effects.paths.config, 'config.json'), JSON.stringify(config))
  const store = options.store ?? openStore({ directory: ':memory:', now: () => effects.clock.now() })
  const steps = options.steps ?? []
  const requests: GenerateRequest[] = []
  const running = await createRuntime({
    effects,
    store,
    plugins: [playedPlugin(steps, requests, options.tools ?? []), ...(options.plugins ?? [])],
    version: '0.0.0-test',
    programs: { node: process.execPath, luaSandbox: options.luaSandbox ?? '/nowhere/lua-sandbox.js' },
  })
  const { runtime } = running
  const events: SeenEvent[] = []
  const waiting = new Set<{ fits(event: SeenEvent): boolean; resolve(event: SeenEvent): void }>()
  const listening = runtime.events.subscribe(
    TRUSTED_CALLER,
    { after: undefined, tail: true, limit: 1000, sessionId: undefined },
    collect(see),
  )

  function see(event: SeenEvent): void {
    events.push(event)
    for (const waiter of waiting) {
      if (!waiter.fits(event)) continue
      waiting.delete(waiter)
      waiter.resolve(event)
    }
  }

  let stopped = false
  async function stop(): Promise<void> {
    if (stopped) return
    stopped = true
    const ended = running.stop()
    await effects.clock.advanceAsync(6000)
    await ended
  }
  onTestFinished(stop)

  return {
    runtime,
    running,
    listening,
    effects,
    store,
    directory,
    events,
    requests,
    steps,
    until(fits) {
      const past = events.find(fits)
      return past === undefined ? new Promise((resolve) => waiting.add({ fits, resolve })) : Promise.resolve(past)
    },
    idle: (sessionId) => runtime.sessions.wait(sessionId, new AbortController().signal),
    session: async (request = {}) => (await runtime.sessions.create(TRUSTED_CALLER, directory, { title: 'Test', ...request })).id,
    prompt: (sessionId, request) =>
      runtime.sessions.submitPrompt(TRUSTED_CALLER, sessionId, typeof request === 'string' ? { prompt: request } : request, 'prompt'),
    messages: (sessionId) => JSON.parse(runtime.sessions.context(sessionId).rawJson) as Message[],
    stop,
  }
}

/** A sink that reads its own frames back. */
export function collect(see: (event: SeenEvent) => void): FrameSink {
  return {
    write(frame) {
      for (const record of new TextDecoder().decode(frame).split('\n\n')) {
        const data = record.split('\n').find((line) => line.startsWith('data: '))
        if (data !== undefined) see(JSON.parse(data.slice(6)) as SeenEvent)
      }
    },
    pending: () => 0,
    drained: () => Promise.resolve(),
    end: () => undefined,
  }
}
