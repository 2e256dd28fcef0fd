import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { NativeHost, PermissionNeed, ToolContext, ToolResult } from '../../../src/ports/plugin.js'
import { createNamedPrograms } from '../../../src/platform/git/named-programs.js'
import { createProtectedFiles } from '../../../src/platform/protection/protected-files.js'
import { createFileView } from '../../../src/plugins/shell/words/file-view.js'
import { shellPlugin } from '../../../src/plugins/shell/shell.plugin.js'
import { createShellScanner, type ShellScan, type ShellScanner } from '../../../src/plugins/shell/judge/scan.js'
import type { ShellGrammar } from '../../../src/plugins/shell/parse/syntax.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { noDoors } from '../../fakes/doors.js'
import { playedRows } from '../played-rows.js'

const require = createRequire(import.meta.url)
const coreWasm = require.resolve('web-tree-sitter/web-tree-sitter.wasm')
const grammarWasm = require.resolve('tree-sitter-bash/tree-sitter-bash.wasm')

const bytes = (path: string) => async () => new Uint8Array(readFileSync(path))
export const grammar: ShellGrammar = { core: bytes(coreWasm), bash: bytes(grammarWasm) }
export const scanner: ShellScanner = createShellScanner(grammar, () => 0)

/** What programs of a scanned line find in their environment. */
const ENVIRONMENT = new Set(['HOME', 'PATH', 'LANG', 'TERM', 'XDG_CONFIG_HOME', 'PAGER'])

const allowVariables = (variables: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => name === 'PATH'))

export interface ShellWorkspace {
  readonly effects: FakeEffects
  /** The session directory. */
  readonly directory: string
  put(name: string, content?: string): string
  scan(command: string, directory?: string): Promise<ShellScan>
  needs(input: unknown, context?: Partial<ToolContext>): Promise<readonly PermissionNeed[]>
  /** Judges and invokes. */
  run(input: unknown, context?: Partial<ToolContext>): Promise<ToolResult>
  invoke(input: unknown, context?: Partial<ToolContext>): Promise<ToolResult>
  /** Whether the input is accepted by the tool's schema. */
  accepts(input: unknown): boolean
}

/** The host of a shell plugin whose processes are played. */
export function shellHost(
  overrides: Parameters<typeof createFakeEffects>[0] = {},
  doors: Partial<NativeHost> = {},
): NativeHost & { readonly effects: FakeEffects } {
  const effects = createFakeEffects(overrides)
  const { paths } = effects
  return {
    ...noDoors,
    rows: playedRows(),
    stopping: new AbortController().signal,
    outputs: { store: async () => ({ id: 'tool_1', path: '/nowhere' }) },
    questions: { ask: async () => [] },
    todos: { replace: () => undefined },
    planMode: { set: () => true },
    instructions: { nested: async () => [] },
    protectedFiles: createProtectedFiles({
      configDirectory: paths.config,
      stateDirectory: paths.state,
      cacheDirectory: paths.cache,
      home: paths.home,
      env: {},
      files: effects.files,
    }),
    namedPrograms: createNamedPrograms(effects),
    shellEnvironment: async () => ({}),
    config: async () => ({}),
    ...doors,
    effects,
  }
}

export function startShell(host: NativeHost) {
  const plugin = shellPlugin({ coreWasm, grammarWasm, allowVariables })
  return { contributions: plugin.start(host), stop: async () => plugin.stop?.() }
}

export function createShellWorkspace(
  overrides: Parameters<typeof createFakeEffects>[0] = {},
  shellEnvironment: NativeHost['shellEnvironment'] = async () => ({}),
  sandbox: NativeHost['sandbox'] = noDoors.sandbox,
): ShellWorkspace {
  const host = shellHost(overrides, { shellEnvironment, sandbox })
  const { effects } = host
  const { paths } = effects
  const [tool] = startShell(host).contributions.tools ?? []
  if (tool === undefined) throw new Error('the plugin has no tool')
  const contextOf = (context: Partial<ToolContext>): ToolContext => ({
    sessionId: 'ses_1',
    messageId: 'msg_1',
    callId: 'call_1',
    agent: 'build',
    directory: paths.cwd,
    signal: new AbortController().signal,
    progress: () => undefined,
    decisions: (_, patterns) => patterns.map(() => 'ask'),
    ...context,
  })
  return {
    effects,
    directory: paths.cwd,
    put(name, content = '') {
      const path = join(paths.cwd, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      return path
    },
    scan: (command, directory = paths.cwd) =>
      scanner.scan(command, {
        session: paths.cwd,
        directory,
        home: paths.home,
        files: createFileView(effects.files, host.namedPrograms),
        environment: ENVIRONMENT,
      }),
    needs: async (input, context = {}) => tool.needs(tool.input.parse(input), contextOf(context)),
    invoke: async (input, context = {}) => tool.invoke(tool.input.parse(input), contextOf(context)),
    accepts: (input) => tool.input.safeParse(input).success,
    async run(input, context = {}) {
      const parsed = tool.input.parse(input)
      await tool.needs(parsed, contextOf(context))
      return tool.invoke(parsed, contextOf(context))
    },
  }
}
