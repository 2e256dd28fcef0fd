import { until } from '../../fakes/programs.js'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Effects } from '../../../src/ports/effects.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { workflowsPlugin } from '../../../src/plugins/workflows/workflows.plugin.js'
import { type Caller, TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type {
  WorkflowCatalog,
  WorkflowHistory,
  WorkflowProjection,
  WorkflowRun,
  WorkflowView,
} from '../../../src/protocol/workflow/workflow.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { type PlayedStep, type PlayedTool, type SeenEvent, startTestService, type TestService } from '../../fakes/service.js'

export const HOUR = 3_600_000

export interface WorkflowService {
  readonly service: TestService
  readonly effects: FakeEffects
  /** The workspace. */
  readonly directory: string
  /** Writes a file below the workspace, or at an absolute path, and tells the watchers. */
  save(name: string, content: string): string
  remove(name: string): void
  /** Tells the watchers that a path may have changed. */
  report(path: string): void
  /** Passes time and lets what follows from it happen. */
  pass(ms: number): Promise<void>
  /** Lets work with files end. */
  settle(): Promise<void>
  call<T>(operation: string, call?: OperationArguments): Promise<T>
  list(): Promise<WorkflowCatalog>
  view(id: string): Promise<WorkflowView>
  runs(id: string): Promise<readonly WorkflowRun[]>
  activate(id: string): Promise<WorkflowProjection>
  pause(id: string): Promise<WorkflowProjection>
  run(id: string): Promise<WorkflowRun>
  /** `workflow.updated` events so far, shortened. */
  updates(): readonly { readonly id: string; readonly active: boolean; readonly error?: string }[]
  untilRun(status: string, id?: string): Promise<WorkflowRun>
  /** Lets time pass in steps until a run has a status: what a watcher says of a file comes when it comes. */
  passUntilRun(ms: number, status: string): Promise<WorkflowRun>
}

interface OperationArguments {
  readonly id?: string
  readonly runId?: string
  readonly body?: unknown
  readonly query?: object
  readonly headers?: object
  readonly directory?: string
  readonly caller?: Caller
}

export interface ServiceSetup {
  readonly effects?: FakeEffects
  readonly config?: Record<string, unknown>
  readonly steps?: PlayedStep[]
  readonly tools?: readonly PlayedTool[]
}

/** Effects whose watchers are told by the test; they and their files may outlive a service. */
export function workflowEffects(): { readonly effects: FakeEffects; report(path: string): void } {
  const listeners = new Map<string, Set<(paths: readonly string[]) => void>>()
  const files = createNodeFiles()
  const watch: Effects['files']['watch'] = async (directory, onChange) => {
    if ((await files.stat(directory))?.kind !== 'directory') return undefined
    const all = listeners.get(directory) ?? new Set()
    listeners.set(directory, all.add(onChange))
    return () => void all.delete(onChange)
  }
  const effects = createFakeEffects({ files: { ...files, watch } })
  return {
    effects,
    report(path) {
      for (const [directory, all] of listeners) if (path.startsWith(`${directory}/`)) for (const tell of all) tell([path])
    },
  }
}

/** A service with the workflows plugin, a clock that stands still and a store on disk; its workspace is in use. */
export async function startWorkflows(
  world = workflowEffects(),
  { config = {}, ...played }: Omit<ServiceSetup, 'effects'> = {},
): Promise<WorkflowService> {
  const { effects } = world
  const store = openStore({ directory: effects.paths.state, now: () => effects.clock.now() })
  const plugin = workflowsPlugin({
    places: { configDirectory: undefined, withoutProjects: false },
    version: 'test',
    localZone: () => 'Europe/Berlin',
  })
  const directory = effects.paths.cwd
  mkdirSync(join(directory, '.svc/workflows'), { recursive: true })
  const service = await startTestService({ effects, store, plugins: [plugin], config, ...played })

  async function settle(): Promise<void> {
    for (let turn = 0; turn < 12; turn++) {
      await effects.files.readDirectory(directory)
      await effects.clock.advanceAsync(0)
    }
  }

  function call<T>(operation: string, given: OperationArguments = {}): Promise<T> {
    return service.runtime.plugins.call(`v2.plugins.workflows.${operation}`, {
      caller: given.caller ?? TRUSTED_CALLER,
      directory: given.directory ?? directory,
      params: { workflow_id: given.id, run_id: given.runId },
      query: given.query ?? {},
      headers: given.headers ?? {},
      body: given.body,
      signal: new AbortController().signal,
    }) as Promise<T>
  }

  const updatesOf = (event: SeenEvent) => {
    const { workflow, workflowID, active, error } = event.data
    return {
      id: String(workflow?.workflowId ?? workflowID),
      active: Boolean(workflow?.active ?? active),
      ...(error && { error: String(error) }),
    }
  }

  await call('list')
  return {
    service,
    effects,
    directory,
    save(name, content) {
      const path = name.startsWith('/') ? name : join(directory, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      world.report(path)
      return path
    },
    remove(name) {
      rmSync(join(directory, name))
      world.report(join(directory, name))
    },
    report: world.report,
    async pass(ms) {
      await settle()
      await effects.clock.advanceAsync(ms)
      await settle()
    },
    settle,
    call,
    list: () => call('list'),
    view: (id) => call('get', { id }),
    runs: async (id) => (await call<WorkflowHistory>('history', { id })).runs,
    activate: (id) => call('activate', { id }),
    pause: (id) => call('pause', { id }),
    run: (id) => call('run', { id }),
    updates: () => service.events.filter(({ type }) => type === 'workflow.updated').map(updatesOf),
    async passUntilRun(ms, status) {
      const found = () => service.events.find(({ type, data }) => type === 'workflow.run.updated' && data['run'].status === status)
      await until(`a run is ${status}`, async () => {
        if (found() !== undefined) return true
        await settle()
        await effects.clock.advanceAsync(ms)
        await settle()
        return false
      })
      return found()?.data['run'] as WorkflowRun
    },
    async untilRun(status, id) {
      const event = await service.until(
        ({ type, data }) =>
          type === 'workflow.run.updated' && data['run'].status === status && (id === undefined || data['run'].workflowId === id),
      )
      return event.data['run'] as WorkflowRun
    },
  }
}

/** The text of a workflow file. */
export function workflowFile(fields: Readonly<Record<string, unknown>> = {}, prompt = 'Do it.'): string {
  const all = { id: 'one', name: 'One', active: true, schedule: { frequency: 'hourly' }, ...fields }
  const lines = Object.entries(all).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `---\n${lines.join('\n')}\n---\n\n${prompt}\n`
}
