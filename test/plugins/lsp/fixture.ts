/** The plugin of language servers over real programs. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { createProgramDoor } from '../../../src/actors/host/programs.js'
import { openSocket } from '../../../src/platform/node/network/socket.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import type { NativeHost, ToolContext, ToolContribution } from '../../../src/ports/plugin.js'
import { lspPlugin } from '../../../src/plugins/lsp/lsp.plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { PermissionAction } from '../../../src/protocol/interaction/interaction.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeRows } from '../../fakes/rows.js'

const SCRIPTED = fileURLToPath(new URL('../../fixtures/lsp-scripted.mjs', import.meta.url))

/** A server of one habit. */
export const scripted = (habit: string) => [process.execPath, SCRIPTED, habit]

export interface LspFixtureOptions {
  /** Ends with the test, unless this says when. */
  readonly atEnd?: (end: () => Promise<void>) => void
  /** What the installation says; without it, all that is configured. */
  readonly installation?: Readonly<Record<string, unknown>>
  readonly sandbox?: NativeHost['sandbox']
  /** Rules of the runs in which a model asks. */
  readonly decide?: (pattern: string) => PermissionAction
}

export function openLsp(
  lsp: Readonly<Record<string, object>>,
  { atEnd = onTestFinished, installation, sandbox = noDoors.sandbox, decide = () => 'ask' }: LspFixtureOptions = {},
) {
  const fake = createFakeEffects()
  const PATH = `${fake.paths.home}/bin:${process.env['PATH'] ?? ''}`
  const processes = createNodeProcesses(PATH)
  const effects = { ...fake, processes, network: { ...fake.network, openSocket }, childEnv: { PATH } }
  const { door: rows, told } = createFakeRows()
  let config = { lsp }
  const host = {
    ...noDoors,
    effects,
    config: async () => config,
    installationConfig: async () => installation ?? config,
    sandbox,
    programs: createProgramDoor({ effects, rows, sandbox }),
    rows,
    sessions: { ...noDoors.sessions, get: () => undefined },
  } as unknown as NativeHost
  const plugin = lspPlugin({ env: {}, version: '0' })
  const { operations = {}, hooks = {}, within, prepare } = plugin.start(host)
  atEnd(async () => {
    await plugin.stop?.()
    await processes.killAll()
  })
  const directory = fake.paths.cwd
  const { signal } = new AbortController()
  const context: ToolContext = {
    sessionId: 'ses_1',
    messageId: 'msg_1',
    callId: 'call_1',
    agent: 'build',
    directory,
    signal,
    progress: () => undefined,
    decisions: (_permission, patterns) => patterns.map(decide),
  }
  function offered(): ToolContribution {
    const [only] = within?.(directory).tools ?? []
    if (only === undefined) throw new Error('there is no tool')
    return only
  }
  const tool = {
    needs: async (input: object, more: Partial<ToolContext> = {}) => offered().needs(offered().input.parse(input), { ...context, ...more }),
    invoke: async (input: object, more: Partial<ToolContext> = {}) =>
      (await offered().invoke(offered().input.parse(input), { ...context, ...more })).output,
  }
  return {
    directory,
    told,
    get config() {
      return config
    },
    effects,
    tools: () => within?.(directory).tools ?? [],
    prepare: () => prepare?.(directory, signal),
    /** A result of a tool that has changed a file, as the model is given it. */
    changed: async (...paths: string[]): Promise<{ readonly output: string; readonly metadata: Readonly<Record<string, unknown>> }> => {
      const files = paths.map((path) => ({ filePath: `${directory}/${path}`, type: 'update' }))
      const value = { title: 'x', output: 'Done.', metadata: { files } }
      const answer = await hooks['tool.after']?.({ toolId: 'edit', directory, sessionId: 'ses_1' }, value, signal)
      return answer as typeof value
    },
    /** What the tool of models answers where nobody answers questions. */
    async ask(input: object): Promise<string> {
      await tool.needs(input, { unattended: true })
      return tool.invoke(input)
    },
    /** What it answers where a person allows all it asks for. */
    async answered(input: object): Promise<string> {
      await tool.needs(input)
      return tool.invoke(input)
    },
    tool,
    reconfigure: (next: Readonly<Record<string, object>>) => void (config = { lsp: next }),
    clock: fake.clock,
    /** What the work comes to, while the time passes that a server is given to find something. */
    async settled<T>(work: Promise<T>): Promise<T> {
      let isOver = false
      const over = () => (isOver = true)
      void work.then(over, over)
      while (!isOver) {
        const { nextTimer } = fake.clock
        if (nextTimer !== undefined && nextTimer <= LIMITS.lsp.settle) fake.clock.advance(nextTimer)
        await nextTurn()
      }
      return work
    },
    /** A program on the search path. */
    install(name: string, text: string): void {
      mkdirSync(`${fake.paths.home}/bin`, { recursive: true })
      writeFileSync(`${fake.paths.home}/bin/${name}`, text, { mode: 0o755 })
    },
    alive: () => processes.alive,
    stop: () => plugin.stop?.(),
    write(path: string, text: string): void {
      mkdirSync(dirname(`${directory}/${path}`), { recursive: true })
      writeFileSync(`${directory}/${path}`, text)
    },
    async call(id: string, query: object = {}, body?: unknown, params: object = {}): Promise<unknown> {
      const operation = operations[`v2.plugins.lsp.${id}`]
      if (operation === undefined) throw new Error(`there is no ${id}`)
      return operation({ caller: TRUSTED_CALLER, directory, params, query, headers: {}, body, signal: new AbortController().signal })
    },
  }
}
