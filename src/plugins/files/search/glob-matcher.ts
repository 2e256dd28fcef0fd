/** Glob patterns (`globs.ts`) as tests of paths, in linear time: each is translated into a regular expression. */
import { ToolError } from '../../../ports/plugin.js'
import { escapeRegex, normaliseGlob } from './globs.js'
import { compileRegex, type Matcher } from './regex.js'

/** Tests a path relative to the search root. Throws `ToolError` for a pattern that cannot be used. */
export function compileGlob(glob: string): Matcher {
  try {
    return compileRegex(`^(?:${translate(normaliseGlob(glob))})$`, { ignoreCase: false, dotAll: true })
  } catch {
    throw new ToolError(`The glob "${glob}" is not usable: check its brackets and braces.`)
  }
}

function translate(glob: string): string {
  let regex = ''
  let braces = 0
  for (let at = 0; at < glob.length; at++) {
    const character = glob.charAt(at)
    const rest = glob.slice(at)
    const atName = at === 0 || glob.charAt(at - 1) === '/'
    if (atName && rest.startsWith('**/')) {
      regex += '(?:.*/)?'
      at += 2
    } else if (atName && rest === '**') {
      regex += '.+'
      at += 1
    } else if (character === '*') regex += '[^/]*'
    else if (character === '?') regex += '[^/]'
    else if (character === '[' && bracketEnd(glob, at) !== -1) {
      const end = bracketEnd(glob, at)
      regex += translateClass(glob.slice(at + 1, end))
      at = end
    } else if (character === '{') {
      braces++
      regex += '(?:'
    } else if (character === '}' && braces > 0) {
      braces--
      regex += ')'
    } else if (character === ',' && braces > 0) regex += '|'
    else if (character === '\\' && at + 1 < glob.length) regex += escapeRegex(glob.charAt(++at))
    else regex += escapeRegex(character)
  }
  return regex
}

function bracketEnd(glob: string, open: number): number {
  const first = /[!^]/.test(glob.charAt(open + 1)) ? open + 2 : open + 1
  return glob.indexOf(']', first + 1)
}

function translateClass(body: string): string {
  const negated = /^[!^]/.test(body)
  const members = (negated ? body.slice(1) : body).replace(/[\\[\]^&~]/g, '\\$&')
  return negated ? `[^/${members}]` : `[${members}]`
}
