/**
 * Commands that an agent has run by us: calls of the shell tool of its session, with what they print (subsystems l.4).
 *
 * I1 A command is judged, asked for, confined and shown as one of a model; one that is not allowed has ended, and says why.
 * I2 What still runs when the turn ends is stopped.
 */
import * as z from 'zod'
import type { ToolContribution } from '../../ports/plugin.js'
import type { DeskEnd, StepDesk } from '../../ports/provider-adapter.js'
import { LIMITS } from '../../protocol/limits.js'

const { terminals: MOST } = LIMITS.external
const Create = z.looseObject({
  command: z.string().min(1),
  args: z.array(z.string()).max(4096).nullish(),
  env: z
    .array(z.looseObject({ name: z.string().regex(/^[A-Za-z_]\w*$/, 'is no name of a variable'), value: z.string() }))
    .max(256)
    .nullish(),
  cwd: z.string().nullish(),
  outputByteLimit: z.number().int().min(0).nullish(),
})
const Named = z.looseObject({ terminalId: z.string() })
/** As a shell says it of what it may not run. */
const NOT_RUN = 126

interface Terminal {
  readonly limit: number
  readonly ended: Promise<DeskEnd>
  stop(): void
  output: string
  exit: { readonly exitCode: number | null; readonly signal: string | null } | undefined
}

export interface Terminals {
  /** Answers by method. */
  readonly requests: Readonly<Record<string, (params: unknown) => Promise<object>>>
  /** I2 */
  end(): void
}

export function createTerminals(desk: StepDesk<ToolContribution>): Terminals {
  const terminals = new Map<string, Terminal>()

  function begin(params: unknown): string {
    if (terminals.size >= MOST) throw new Error(`at most ${MOST} terminals are kept at a time`)
    const { command, args, env, cwd, outputByteLimit } = Create.parse(params)
    const line = [...(env ?? []).map(({ name, value }) => `${name}=${quoted(value)}`), quoted(command), ...(args ?? []).map(quoted)].join(
      ' ',
    )
    const stopped = new AbortController()
    const onProgress = ({ output }: Readonly<Record<string, unknown>>): void => {
      if (typeof output === 'string') terminal.output = output
    }
    const input = {
      command: args == null ? lineOf(command, line) : line,
      timeout: LIMITS.tools.bashTimeoutMax,
      ...(cwd != null && { workdir: cwd }),
    }
    const ended = desk.call({ tool: 'bash', input, signal: stopped.signal, onProgress }).then((end) => {
      const exit = end.metadata?.['exit']
      terminal.output = end.ok ? end.output : end.error
      const signal = exit === null ? 'SIGKILL' : null
      terminal.exit = { exitCode: end.ok ? 0 : typeof exit === 'number' ? exit : signal === null ? NOT_RUN : null, signal }
      return end
    })
    const terminal: Terminal = {
      limit: outputByteLimit ?? Number.POSITIVE_INFINITY,
      ended,
      stop: () => stopped.abort(),
      output: '',
      exit: undefined,
    }
    const id = `terminal-${++begun}`
    terminals.set(id, terminal)
    return id
  }
  let begun = 0

  const named = (params: unknown): Terminal => {
    const terminal = terminals.get(Named.parse(params).terminalId)
    if (terminal === undefined) throw new Error('there is no such terminal')
    return terminal
  }

  return {
    requests: {
      'terminal/create': async (params) => ({ terminalId: begin(params) }),
      async 'terminal/output'(params) {
        const { output, exit, limit } = named(params)
        const kept = lastBytes(output, limit)
        return { output: kept, truncated: kept.length < output.length, ...(exit !== undefined && { exitStatus: exit }) }
      },
      async 'terminal/wait_for_exit'(params) {
        const terminal = named(params)
        await terminal.ended
        return terminal.exit ?? { exitCode: null, signal: null }
      },
      async 'terminal/kill'(params) {
        named(params).stop()
        return {}
      },
      async 'terminal/release'(params) {
        named(params).stop()
        terminals.delete(Named.parse(params).terminalId)
        return {}
      },
    },
    end() {
      for (const { stop } of terminals.values()) stop()
    },
  }
}

/** Agents name a whole line as the command where they give no arguments. */
function lineOf(command: string, line: string): string {
  return /\s/.test(command) ? line.replace(quoted(command), () => command) : line
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The end of a text, never half a character. */
function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let from = bytes.length - limit
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++
  return bytes.subarray(from).toString()
}
