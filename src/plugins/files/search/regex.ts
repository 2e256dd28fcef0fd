/**
 * Regular expressions in linear time (threat-model X2): RE2's, in JavaScript. Loaded at the first search that needs it.
 * `\w`, `\s` and `\b` are about ASCII there, those of ripgrep about all letters; `\p{L}` is the same in both.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js'
import { ToolError } from '../../../ports/plugin.js'

export type Matcher = (line: string) => boolean

export interface Flags {
  readonly ignoreCase: boolean
  /** The dot matches a newline too. */
  readonly dotAll: boolean
}

/** Whether a line contains a match; throws `ToolError` for a pattern that cannot be used. */
export function compileRegex(pattern: string, { ignoreCase, dotAll }: Flags): Matcher {
  try {
    const compiled = RE2JS.compile(withRe2Escapes(pattern), (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (dotAll ? RE2JS.DOTALL : 0))
    return (line) => compiled.test(line)
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw unusable(error)
    throw error
  }
}

/** Whether the pattern closes a group it did not open, so that it would mean something else inside another pattern. */
export function leavesGroup(pattern: string): boolean {
  try {
    RE2JS.compile(withRe2Escapes(pattern))
    return false
  } catch (error) {
    return error instanceof RE2JSSyntaxException && error.getDescription() === 'unexpected )'
  }
}

/** `\u0061` is written `\x{0061}` there. */
function withRe2Escapes(pattern: string): string {
  return pattern.replace(/\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|[^])/g, (escape, four?: string, braced?: string) => {
    const code = four ?? braced
    return code === undefined ? escape : `\\x{${code}}`
  })
}

function unusable(error: RE2JSSyntaxException): ToolError {
  const where = error.getPattern() ?? ''
  const why = `${error.getDescription()}${where === '' ? '' : `: ${where.slice(0, 200)}`}`
  return new ToolError(
    `The regular expression is not usable: ${why}. Look-around, back references and possessive repetition (a++) are not supported.`,
  )
}
