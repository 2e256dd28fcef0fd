/** The MCP plugin over real programs: its operations, and its tools as a session has them. */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createProgramDoor } from '../../../src/actors/host/programs.js'
import { createGuardedFetch } from '../../../src/platform/node/network/guarded-fetch.js'
import { createWayOut } from '../../../src/platform/node/network/way-out.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import { type NativeHost, ToolError, type ToolContext, type ToolContribution } from '../../../src/ports/plugin.js'
import type { ModelQuestion } from '../../../src/ports/doors.js'
import { mcpPlugin } from '../../../src/plugins/mcp/mcp.plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { ZERO_USAGE } from '../../../src/protocol/message/token-usage.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeRows } from '../../fakes/rows.js'
import { PATIENCE } from '../../fakes/patience.js'

const HOSTILE = fileURLToPath(new URL('../../fixtures/mcp-hostile.mjs', import.meta.url))

/** A server of one bad habit. */
export const hostile = (habit: string) => ({ type: 'local', command: [process.execPath, HOSTILE, habit], timeout: PATIENCE })

export interface McpOptions {
  readonly options?: object
  decide?(permission: string, pattern: string): 'allow' | 'ask' | 'deny'
  /** What files of the workspace bring; read anew for each question. */
  brought?(): Readonly<Record<string, unknown>>
  readonly sandbox?: NativeHost['sandbox']
  /** What the person answers. */
  readonly answers?: readonly (readonly string[])[]
}

export function openMcp(
  mcp: Readonly<Record<string, object>>,
  { options = {}, decide = () => 'ask', answers = [], brought = () => ({}), sandbox = noDoors.sandbox }: McpOptions = {},
) {
  const PATH = process.env['PATH'] ?? ''
  const fake = createFakeEffects()
  const processes = createNodeProcesses(PATH)
  const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')
  const wayOut = createWayOut({ env: {}, log: fake.log, now: () => fake.clock.monotonic() })
  const network = { guardedFetch: createGuardedFetch(wayOut), counts: wayOut.counts }
  const effects = { ...fake, processes, network, fetch: wayOut.fetch, childEnv: { PATH }, sha256 }
  const { door: rows, told } = createFakeRows()
  const questions: object[] = []
  const modelled: (ModelQuestion & { readonly sessionId: string })[] = []
  let changes = 0
  let servers = mcp
  const host = {
    ...noDoors,
    effects,
    config: async () => ({ mcp: servers, plugins: { 'dev.svc.mcp': { options } } }),
    questions: {
      ask: async (_context: object, asked: object[]) => {
        questions.push(...asked)
        return answers
      },
    },
    models: {
      ask: async (sessionId: string, question: ModelQuestion) => {
        modelled.push({ sessionId, ...question })
        return { model: 'test/scripted', text: 'an answer', reason: 'stop', usage: { ...ZERO_USAGE, input: 3, output: 2 } }
      },
    },
    offersChanged: () => void changes++,
    rows,
    sandbox,
    programs: createProgramDoor({ effects, rows, sandbox }),
    configEntries: { ...noDoors.configEntries, brought: async () => brought() },
  } as unknown as NativeHost
  const plugin = mcpPlugin({ env: {}, version: '0' })
  const { operations = {}, within, prepare } = plugin.start(host)
  onTestFinished(async () => {
    await plugin.stop?.()
    await processes.killAll()
  })
  const directory = fake.paths.cwd
  const context: ToolContext = {
    sessionId: 'ses_1',
    messageId: 'msg_1',
    callId: 'call_1',
    agent: 'build',
    directory,
    signal: new AbortController().signal,
    progress: () => undefined,
    decisions: (permission, patterns) => patterns.map((pattern) => decide(permission, pattern)),
  }
  const tools = (): readonly ToolContribution[] => within?.(directory).tools ?? []
  const tool = (id: string): ToolContribution => {
    const found = tools().find((each) => each.id === id)
    if (found === undefined)
      throw new Error(
        `there is no ${id}: ${tools()
          .map((each) => each.id)
          .join(' ')}`,
      )
    return found
  }
  return {
    told,
    questions,
    modelled,
    effects,
    configure: (next: Readonly<Record<string, object>>) => void (servers = next),
    changes: () => changes,
    alive: () => processes.alive,
    prepare: (isRun = false) => prepare?.(directory, new AbortController().signal, isRun ? context : undefined),
    directory,
    tools,
    commands: () => within?.(directory).commands ?? [],
    needs: (id: string, input: object = {}) => tool(id).needs(tool(id).input.parse(input), context),
    call: (id: string, input: object = {}, signal = context.signal) => tool(id).invoke(tool(id).input.parse(input), { ...context, signal }),
    refusal: async (id: string, input: object = {}): Promise<string> => {
      try {
        await tool(id).invoke(tool(id).input.parse(input), context)
      } catch (error) {
        if (error instanceof ToolError) return error.message
        throw error
      }
      throw new Error('it was not refused')
    },
    operation: async (id: string, params: object = {}, body?: unknown, query: object = {}): Promise<unknown> =>
      operations[id]?.({ caller: TRUSTED_CALLER, directory, params, query, headers: {}, body, signal: context.signal }),
  }
}
