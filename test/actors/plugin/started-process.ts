import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import type { BrokerHost } from '../../../src/actors/plugin/brokers/brokers.js'
import type { InstanceProblem, PluginInstance } from '../../../src/actors/plugin/generation/instance.js'
import type { ToolContext } from '../../../src/ports/plugin.js'
import type { ProcessDeps } from '../../../src/actors/plugin/process/process-child.js'
import { startProcess } from '../../../src/actors/plugin/process/process-instance.js'
import { createInstanceIds, pluginEnvironment, type ProcessSpec } from '../../../src/actors/plugin/process/process-spec.js'
import { createNodeClock } from '../../../src/platform/node/node-effects.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { PATIENCE } from '../../fakes/patience.js'

const FIXTURES = fileURLToPath(new URL('../../fixtures/plugins', import.meta.url))

export const processes = createNodeProcesses('/usr/bin:/bin')
const clock = createNodeClock()
/** A real program may take its time to start. */
const startPatiently: typeof clock.setTimeout = (run, ms) => clock.setTimeout(run, ms === LIMITS.plugins.initialize ? PATIENCE : ms)
const makeEffects = () => ({ ...createFakeEffects(), processes, clock: { ...clock, setTimeout: startPatiently } })
/** Made anew by `start` for each file: files share this module, and what a file has made is removed with it. */
export let effects = makeEffects()
export const published: { type: string; properties: unknown }[] = []

const host: BrokerHost = {
  config: async () => ({ theme: 'dark', nested: { deep: [1] } }),
  setConfig: async () => undefined,
  publish: async (type, properties) => void published.push({ type, properties }),
  protectedFiles: { reasons: async (paths) => paths.map((path) => (path.endsWith('/svc.json') ? 'svc configuration' : undefined)) },
}

const nextInstanceId = createInstanceIds()

export interface Started {
  readonly instance: PluginInstance
  readonly problems: readonly InstanceProblem[]
  /** Runs a tool and answers its output. */
  tool(id: string, input?: unknown, signal?: AbortSignal): Promise<string>
  /** Retires it, kills what stays, and waits until nothing is left. */
  stop(): Promise<void>
}

export function specOf(fixture: string, overrides: Partial<ProcessSpec> = {}): ProcessSpec {
  return {
    pluginId: 'dev.example.fixture',
    place: { scope: 'workspace', workspace: effects.paths.cwd },
    revision: 'sha256:1234',
    config: {},
    timeoutMs: 60_000,
    directory: FIXTURES,
    program: process.execPath,
    args: [join(FIXTURES, `${fixture}.mjs`)],
    env: pluginEnvironment(effects, { pluginId: 'dev.example.fixture', directory: FIXTURES }),
    capabilities: new Set(['config-read', 'workspace-read', 'workspace-write', 'event-publish']),
    eventNamespaces: ['example'],
    ...overrides,
  }
}

/** Starts a fixture program as generation 4. */
export async function start(
  fixture: string,
  overrides: Partial<ProcessSpec> = {},
  signal = new AbortController().signal,
  remembering: Pick<ProcessDeps, 'offers' | 'wakers'> = {},
): Promise<Started> {
  if (!existsSync(effects.paths.cwd)) effects = makeEffects()
  const problems: InstanceProblem[] = []
  const run = startProcess(
    { effects, nextInstanceId, host, leases: createLeases({ effects, brokers: new Map() }), ...remembering },
    specOf(fixture, overrides),
  )
  const instance = await run(4, (problem) => problems.push(problem), signal)
  return {
    instance,
    problems,
    async tool(id, input = {}, abort = new AbortController().signal) {
      const tool = instance.contributions.tools?.find((candidate) => candidate.id === id)
      if (tool === undefined) throw new Error(`no tool ${id}`)
      const result = await tool.invoke(input, contextOf(abort))
      return result.output
    },
    async stop() {
      instance.retire()
      instance.kill()
      await instance.gone
    },
  }
}

export function contextOf(signal: AbortSignal): ToolContext {
  return {
    sessionId: 'ses_1',
    messageId: 'msg_1',
    callId: 'call_1',
    agent: 'build',
    directory: effects.paths.cwd,
    signal,
    progress: () => undefined,
    decisions: () => [],
  }
}
