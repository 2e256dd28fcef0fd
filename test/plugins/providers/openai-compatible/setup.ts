import type { ProviderSettings } from '../../../../src/ports/plugin.js'
import { type GenerateRequest, ProviderError, type StreamPart } from '../../../../src/ports/provider-adapter.js'
import { createAdapter } from '../../../../src/plugins/providers/exchange/adapter.js'
import { chatCompletions } from '../../../../src/plugins/providers/openai-compatible/openai-compatible.plugin.js'
import { createPause } from '../../../../src/kernel/pause.js'
import { createWayOut } from '../../../../src/platform/node/network/way-out.js'
import { createFakeEffects, type FakeEffects } from '../../../fakes/effects.js'
import { type ModelServer, type Reply, type Script, startModelServer } from '../../../fixtures/model-server.js'

export const REQUEST: GenerateRequest = {
  sessionId: 'ses_1',
  directory: '/srv',
  model: { id: 'scripted', providerId: 'local' },
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  tools: [],
  options: {},
}

export function settings(overrides: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    providerId: 'local',
    npm: '@ai-sdk/openai-compatible',
    baseURL: undefined,
    apiKey: () => undefined,
    headers: {},
    options: {},
    compatibility: { streamUsage: true, reasoningEffort: false },
    ...overrides,
  }
}

export interface Outcome {
  readonly parts: readonly StreamPart[]
  /** Undefined when the step succeeded. */
  readonly error: ProviderError | undefined
}

export interface Bench {
  readonly server: ModelServer
  readonly effects: FakeEffects
  /** Runs one step; `parts` can be looked at while it runs. */
  readonly start: (options?: StartOptions) => {
    readonly parts: StreamPart[]
    readonly outcome: Promise<Outcome>
    readonly abort: AbortController
  }
}

export interface StartOptions {
  readonly request?: Partial<GenerateRequest>
  readonly settings?: Partial<ProviderSettings>
  readonly onPart?: (part: StreamPart) => void
}

export const TIMEOUTS = { firstByte: 300_000, idle: 120_000 }

/** A model server, a clock that stands still, and the adapter between them. */
export async function createBench(script: Script): Promise<Bench> {
  const server = await startModelServer(script)
  const { post } = createWayOut({ env: {}, log: { debug: () => undefined }, now: () => 0 })
  const effects = createFakeEffects({ fetch: globalThis.fetch, post })
  return {
    server,
    effects,
    start(options = {}) {
      const adapter = createAdapter(chatCompletions, settings({ baseURL: server.url, ...options.settings }), {
        effects,
        timeouts: TIMEOUTS,
        pause: createPause(),
      })
      const abort = new AbortController()
      const parts: StreamPart[] = []
      const push = (part: StreamPart) => {
        parts.push(part)
        options.onPart?.(part)
      }
      const outcome = adapter.generate({ ...REQUEST, ...options.request }, push, abort.signal).then(
        () => ({ parts, error: undefined }),
        (error: unknown) => {
          if (!(error instanceof ProviderError)) throw error
          return { parts, error }
        },
      )
      return { parts, outcome, abort }
    },
  }
}

/** Runs one step against one reply. */
export async function play(answer: Reply, options: StartOptions = {}): Promise<Outcome> {
  const bench = await createBench([answer])
  try {
    return await bench.start(options).outcome
  } finally {
    await bench.server.close()
  }
}

/** Neighbours that add to the same text as one: how many there are depends on what came in one read. */
export function joined(parts: readonly StreamPart[]): StreamPart[] {
  const all: StreamPart[] = []
  for (const part of parts) {
    const last = all.at(-1)
    if (last !== undefined && 'delta' in last && 'delta' in part && last.type === part.type)
      all.splice(-1, 1, { ...part, delta: last.delta + part.delta })
    else all.push(part)
  }
  return all
}
