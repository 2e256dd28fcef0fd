/** One line about one tool call. */
import { cut } from '../../../kernel/cut.js'
import type { ToolPart } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'

const WIDTH = 100

/** `→ read src/a.ts` when it starts, `✗ read: …` when it fails; nothing while it is pending or when it went well. */
export function toolLine(part: ToolPart): string | undefined {
  if (part.state.status === 'running') return clip(`→ ${part.tool} ${subject(part.state.input)}`)
  if (part.state.status === 'error') return clip(`✗ ${part.tool}: ${part.state.error}`)
  return undefined
}

/** What the call is about: its first text argument. */
function subject(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  return Object.values(input).find((value) => typeof value === 'string') ?? ''
}

function clip(text: string): string {
  const line = printable(text).trim()
  return line.length > WIDTH ? cut(line, WIDTH - 1) : line
}
