/** The wider pattern to offer beside an exact command (sessions-events §8.8). */
import { factsOf } from './table.js'

/** The pattern to offer beside `text`, one program as it is asked about; undefined when there is none. */
export function widerCommand(text: string): string | undefined {
  const [program = '', first = '', second = ''] = text.split(' ')
  const { wider } = factsOf(program)
  if (wider === undefined) return undefined
  if (wider === 'any') return `${program} *`
  const { of = '', groups = {}, named = '' } = wider
  if (has(of, first)) return `${program} ${first} *`
  const nested = has(named, first) ? isName(second) : Object.hasOwn(groups, first) && has(groups[first] ?? '', second)
  return nested ? `${program} ${first} ${second} *` : undefined
}

function has(words: string, word: string): boolean {
  return word !== '' && words.split(' ').includes(word)
}

function isName(word: string): boolean {
  return /^[\w:.@/][\w:.@/-]*$/.test(word)
}
