/** Recognises stream editor scripts that only print, delete and substitute: no files written, no programs started. */

const SIMPLE = new Set('dDgGhHnNpPqQxz=l')
const FLAGS = new Set('gpiIMm0123456789')
const BETWEEN = new Set(' \t\n;{}!,')

/** True when every command of the script is known to touch nothing but the text that is edited. */
export function isHarmlessSed(script: string): boolean {
  let at = 0
  while (at < script.length) {
    const character = script.charAt(at)
    if (BETWEEN.has(character) || /[\d$+~]/.test(character) || SIMPLE.has(character)) at += 1
    else {
      const next = skipCommand(script, at)
      if (next === undefined) return false
      at = next
    }
  }
  return true
}

/** End of an address `/…/`, a substitution, a transliteration or inserted text. */
function skipCommand(script: string, at: number): number | undefined {
  const character = script.charAt(at)
  if (character === '/') return afterFlags(script, skipDelimited(script, at + 1, '/'), 'IM')
  if (character === '\\') return afterFlags(script, skipDelimited(script, at + 2, script.charAt(at + 1)), 'IM')
  if (character === 's' || character === 'y') {
    const delimiter = script.charAt(at + 1)
    const middle = skipDelimited(script, at + 2, delimiter)
    const end = middle === undefined ? undefined : skipDelimited(script, middle, delimiter)
    return afterFlags(script, end, [...FLAGS].join(''))
  }
  if (/[aic]/.test(character) || character === '#') {
    const line = script.indexOf('\n', at)
    return line < 0 ? script.length : script.charAt(line - 1) === '\\' ? undefined : line
  }
  return /[bt:]/.test(character) ? at + 1 + labelLength(script, at + 1) : undefined
}

function labelLength(script: string, at: number): number {
  return /^ *\w*/.exec(script.slice(at, at + 100))?.[0].length ?? 0
}

function skipDelimited(script: string, from: number, delimiter: string): number | undefined {
  if (delimiter === '' || delimiter === '\n' || delimiter === '\\') return undefined
  for (let at = from; at < script.length; at += 1) {
    if (script.charAt(at) === '\\') at += 1
    else if (script.charAt(at) === '[' && delimiter !== '[') {
      const close = script.indexOf(']', at + 2)
      if (close < 0) return undefined
      if (script.slice(at, close).includes(delimiter)) return undefined
    } else if (script.charAt(at) === delimiter) return at + 1
  }
  return undefined
}

function afterFlags(script: string, from: number | undefined, flags: string): number | undefined {
  let at = from
  while (at !== undefined && at < script.length && flags.includes(script.charAt(at))) at += 1
  return at
}
