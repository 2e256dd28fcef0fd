/** Recognises awk programs that only read what they are given and print it: nothing written, started or opened besides. */

const TOKEN = /\\\n|[ \t]+|#[^\n]*|"(?:\\[\s\S]|[^"\\\n])*"|[A-Za-z_]\w*|[\d.]+|&&|\|\||[<>=!]=|[\s\S]/y
/** A bracket that holds the delimiter is read in more than one way. */
const PATTERN = /\/(?:\\[^\n]|\[\^?\]?[^\]/\n]*\]|[^[/\\\n])*\//y
const REFUSED = /^(?:system|getline|ARGV|ARGC|["|@\\`])$/
const BEFORE_PATTERN = /^(?:print|printf|return|else|do|in|case|delete|exit)$/
const OPERAND_ENDS = /^(?:["\w.].*|[\])$])$/s
const GOES_ON = /^(?:,|&&|\|\||\?|:)$/

/** True when every token is known to do no more than that; `>` is a redirection wherever `print` may still take one. */
export function isHarmlessAwk(program: string): boolean {
  let last = ';'
  let printing = false
  let depth = 0
  for (let at = 0; at < program.length; ) {
    const token = readToken(program, at, last)
    if (token === undefined || REFUSED.test(token) || (token.startsWith('>') && token !== '>=' && printing && depth === 0)) return false
    at += token.length
    if (/^(?:\\\n|[ \t]+|#.*)$/.test(token)) continue
    if (/^[;{}]$/.test(token) || (token === '\n' && !GOES_ON.test(last))) [printing, depth] = [false, 0]
    else if (token === 'print' || token === 'printf') printing = true
    else if (token === '(') depth += 1
    else if (token === ')') depth -= 1
    last = token
  }
  return true
}

/** The token at `at`; undefined when it is not certain whether a `/` divides or begins a pattern. */
function readToken(program: string, at: number, last: string): string | undefined {
  const divides = OPERAND_ENDS.test(last) && !BEFORE_PATTERN.test(last)
  if (program.charAt(at) === '/' && !divides) return match(PATTERN, program, at)
  if (program.charAt(at) === '/' && last === ')' && /^[^\n]*\//.test(program.slice(at + 1))) return undefined
  return match(TOKEN, program, at)
}

function match(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at
  return expression.exec(text)?.[0]
}
