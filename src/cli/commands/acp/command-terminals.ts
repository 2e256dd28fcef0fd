/**
 * A command that the server runs, as a terminal that the editor only shows (`_meta` of tool calls, as editors and agents have agreed on it:
 * `terminal_info`, `terminal_output`, `terminal_exit`). The editor starts nothing: rules, sandbox and what is left behind stay with the server.
 *
 * I1 What the terminal shows in the end is the output as the server keeps it, however much of it was shown while it ran.
 */
import { resolve } from 'node:path'
import type { ToolCallContent } from '@agentclientprotocol/sdk'
import { isRecord } from '../../../protocol/text/json.js'
import type { ToolPart } from '../../../protocol/message/message.js'

/** Tools whose calls are one command line each. */
const COMMANDS = new Set(['bash', 'sandbox_exec'])
/** Begins a terminal anew: screen and what has left it. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'
/** By so much the end of what was shown is found again in an output whose beginning was dropped. */
const SEAM = 1024

/** What an update of a call says of its terminal. */
interface Shown {
  readonly content?: ToolCallContent[]
  readonly _meta?: Readonly<Record<string, unknown>>
}

export interface CommandTerminals {
  /** Of the first that is told of a call; undefined for a call that is no command. */
  open(part: ToolPart, cwd: string): Shown | undefined
  /** What is new since then; undefined for a call that has no terminal. */
  update(part: ToolPart): Shown | undefined
}

/** What a terminal shows, or the end of it. */
interface Written {
  readonly text: string
  readonly isWhole: boolean
}

/** `most` = characters of an output that an editor is shown. */
export function createCommandTerminals(most: number): CommandTerminals {
  const written = new Map<string, Written>()

  function more(id: string, before: Written, output: string): string {
    const piece = pieceOf(before, output)
    const text = before.text + piece
    written.set(id, { text: text.slice(-most), isWhole: before.isWhole && text.length <= most })
    return piece
  }

  return {
    open({ tool, callId, state }, cwd) {
      if (!COMMANDS.has(tool)) return undefined
      written.set(callId, { text: '', isWhole: true })
      const input: unknown = state.input
      const workdir = isRecord(input) && typeof input['workdir'] === 'string' ? input['workdir'] : '.'
      return { content: [terminalOf(callId)], _meta: { terminal_info: { terminal_id: callId, cwd: resolve(cwd, workdir) } } }
    },
    update(part) {
      const { callId, state, metadata } = part
      const shown = written.get(callId)
      if (shown === undefined || state.status === 'pending') return undefined
      const terminal = { content: [terminalOf(callId)] }
      if (state.status === 'running') {
        const output = isRecord(metadata) ? metadata['output'] : undefined
        return typeof output !== 'string' || output === ''
          ? terminal
          : { ...terminal, _meta: { terminal_output: said(callId, more(callId, shown, output)) } }
      }
      const { exit, text } = endOf(part)
      written.delete(callId)
      if (exit === undefined && shown.text === '') return undefined // Nothing has run: the refusal is told as a text.
      const last = exit === undefined ? `\n${text}` : restOf(shown, text.slice(0, most))
      const ended = { terminal_exit: { terminal_id: callId, exit_code: exit ?? null, signal: null } }
      return { ...terminal, _meta: { ...(last !== '' && { terminal_output: said(callId, last) }), ...ended } }
    },
  }
}

const said = (terminal_id: string, data: string) => ({ terminal_id, data })
const terminalOf = (terminalId: string): ToolCallContent => ({ type: 'terminal', terminalId })

/** What is new in `output`, the end of what a command has printed so far. */
function pieceOf({ text, isWhole }: Written, output: string): string {
  if (isWhole && output.startsWith(text)) return output.slice(text.length)
  const seam = text.slice(-SEAM)
  const at = output.lastIndexOf(seam)
  return at < 0 ? `\n…\n${output}` : output.slice(at + seam.length)
}

/** I1 */
function restOf({ text, isWhole }: Written, output: string): string {
  if (isWhole && output.startsWith(text)) return output.slice(text.length)
  const known = text.trimEnd() // The output as it is kept ends without empty lines.
  return isWhole && output.startsWith(known) ? output.slice(known.length) : `${CLEAR}${output}`
}

/** `exit` is undefined where the command has not ended by itself or by svc, null where it was ended from outside. */
function endOf({ state, metadata }: ToolPart): { readonly exit: number | null | undefined; readonly text: string } {
  const settled: unknown = state.status === 'completed' ? state.metadata : metadata
  const told = isRecord(settled) ? settled['exit'] : undefined
  const exit = told === null || typeof told === 'number' ? told : undefined
  if (state.status === 'completed') return { exit, text: state.output }
  const error = state.status === 'error' ? state.error : ''
  // "The command failed with exit status 1. Its output:", an empty line, and the output.
  const at = error.indexOf('\n\n')
  return { exit, text: typeof exit !== 'number' || at < 0 ? error : error.slice(at + 2) }
}
