import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ZodType } from 'zod'
import type { Processes } from '../../../src/ports/effects.js'
import { type NativeHost, type PermissionNeed, ToolError, type ToolContext, type ToolResult } from '../../../src/ports/plugin.js'
import { createProgramDoor } from '../../../src/actors/host/programs.js'
import { filesPlugin } from '../../../src/plugins/files/files.plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeRows } from '../../fakes/rows.js'

export interface Workspace {
  readonly effects: FakeEffects
  /** The session directory. */
  readonly directory: string
  /** Path of `name` in the session directory. */
  path(name: string): string
  /** Writes a file below the session directory, or at an absolute path. */
  put(name: string, content: string | Uint8Array): string
  tool(id: string): TestTool
  operation(id: string, call?: object): Promise<unknown>
}

interface TestTool {
  readonly input: ZodType
  needs(input: unknown, context?: Partial<ToolContext>): Promise<readonly PermissionNeed[]>
  /** Parses, judges and invokes, as the service does once everything is allowed. */
  run(input: unknown, context?: Partial<ToolContext>): Promise<ToolResult>
  /** Invokes alone. */
  invoke(input: unknown, context?: Partial<ToolContext>): Promise<ToolResult>
  /** The message of the `ToolError` that `run` ends with. */
  refusal(input: unknown, context?: Partial<ToolContext>): Promise<string>
}

export interface WorkspaceOptions {
  /** Search path of what is started. */
  readonly path?: string
  readonly ripgrepPath?: string
  readonly processes?: Processes
  readonly host?: Partial<NativeHost>
  readonly now?: () => number
}

/** The tools of the files plugin over a temporary directory. */
export function createWorkspace(options: WorkspaceOptions = {}): Workspace {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  const childEnv = { ...effects.childEnv, ...(options.path !== undefined && { PATH: options.path }) }
  const own = { ...effects, childEnv, processes: options.processes ?? effects.processes }
  const sandbox = options.host?.sandbox ?? noDoors.sandbox
  const host: NativeHost = {
    ...noDoors,
    effects: own,
    programs: createProgramDoor({ effects: own, rows: createFakeRows().door, sandbox }),
    installationConfig: async () => options.host?.config?.(directory) ?? {},
    outputs: { store: async () => ({ id: 'tool_1', path: '/nowhere' }) },
    questions: { ask: async () => [] },
    todos: { replace: () => undefined },
    planMode: { set: () => true },
    instructions: { nested: async () => [] },
    protectedFiles: { reasons: async () => [] },
    shellEnvironment: async () => ({}),
    config: async () => ({}),
    ...options.host,
  }
  const { tools = [], operations = {} } = filesPlugin({ ripgrepPath: options.ripgrepPath }).start(host)
  let calls = 0
  const contextOf = (overrides: Partial<ToolContext>): ToolContext => ({
    sessionId: 'ses_1',
    messageId: 'msg_1',
    callId: `call_${++calls}`,
    agent: 'build',
    directory,
    signal: new AbortController().signal,
    progress: () => undefined,
    decisions: (_, patterns) => patterns.map(() => 'allow'),
    ...overrides,
  })
  return {
    effects,
    directory,
    path: (name) => join(directory, name),
    put(name, content) {
      const path = name.startsWith('/') ? name : join(directory, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      return path
    },
    async operation(id, call = {}) {
      const signal = new AbortController().signal
      return operations[id]?.({ caller: TRUSTED_CALLER, directory, params: {}, query: {}, headers: {}, body: undefined, signal, ...call })
    },
    tool(id) {
      const tool = tools.find((candidate) => candidate.id === id)
      if (tool === undefined) throw new Error(`there is no tool ${id}`)
      const run = async (input: unknown, overrides: Partial<ToolContext> = {}) => {
        const context = contextOf(overrides)
        const parsed = tool.input.parse(input)
        await tool.needs(parsed, context)
        return tool.invoke(parsed, context)
      }
      return {
        input: tool.input,
        needs: async (input, overrides = {}) => tool.needs(tool.input.parse(input), contextOf(overrides)),
        invoke: async (input, overrides = {}) => tool.invoke(tool.input.parse(input), contextOf(overrides)),
        run,
        async refusal(input, overrides) {
          const outcome = await run(input, overrides).catch((error: unknown) => error)
          if (outcome instanceof ToolError) return outcome.message
          throw new Error(`expected a refusal, got ${JSON.stringify(outcome)}`, { cause: outcome })
        },
      }
    },
  }
}
