/** Instruction files between the session directory and a file that was read (sessions-events §12.4). */
import type { Instructions, ToolContext } from '../../../ports/plugin.js'
import { dirname } from '../../../protocol/text/paths.js'
import type { Target } from './targets.js'

/** Characters of one instruction file, and of all of them, that are appended. */
const MAX_EACH = 16 * 1024
const MAX_ALL = 32 * 1024

export interface Nested {
  /** Text to append to the output, or `''`. */
  readonly reminder: string
  /** Paths of the files in it. */
  readonly loaded: readonly string[]
}

const NOTHING: Nested = { reminder: '', loaded: [] }

export async function nestedInstructions(instructions: Instructions, target: Target, context: ToolContext): Promise<Nested> {
  if (!target.inside || dirname(target.path) === context.directory) return NOTHING
  const found = await instructions.nested(context.sessionId, context.directory, target.path)
  const files = found.filter((file) => file.path !== target.path)
  if (files.length === 0) return NOTHING
  let left = MAX_ALL
  const blocks = files.map(({ path, text }) => {
    const shown = cut(text.trim(), Math.min(left, MAX_EACH))
    left -= shown.length
    return `Instructions from ${path}:\n${shown}`
  })
  return { reminder: `\n\n<system-reminder>\n${blocks.join('\n\n')}\n</system-reminder>`, loaded: files.map((file) => file.path) }
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}\n(Cut; read the file for the rest.)`
}
