/** What the template of a command wants included: `@path` a file, `` !`command` `` the output of a command. Arguments include nothing. */
import { argumentsOf, fill } from './command.js'

export type Inclusion = { readonly type: 'shell'; readonly command: string } | { readonly type: 'file'; readonly path: string }

const SHELL = /!`([^`\n]+)`/g
const FILE = /(?<![\w`@])@([^\s`'"@,;]+)/g
const SENTENCE_END = '.:!?)]}'

/** In the order of the template, each once, with the arguments filled in. Undefined when one would be longer than `maxLength`. */
export function inclusionsOf(template: string, written: string, maxLength: number): readonly Inclusion[] | undefined {
  const value = argumentsOf(template, written)
  const shells = [...template.matchAll(SHELL)].map(({ 1: command = '', index }) => ({ type: 'shell' as const, text: command, index }))
  const files = [...template.replaceAll(SHELL, (whole) => ' '.repeat(whole.length)).matchAll(FILE)].map(({ 1: path = '', index }) => ({
    type: 'file' as const,
    text: withoutSentenceEnd(path),
    index,
  }))
  const found = new Map<string, Inclusion>()
  for (const { type, text } of [...shells, ...files].toSorted((one, other) => one.index - other.index)) {
    const filled = fill(text, value, maxLength)?.trim()
    if (filled === undefined) return undefined
    if (filled !== '') found.set(`${type} ${filled}`, type === 'shell' ? { type, command: filled } : { type, path: filled })
  }
  return [...found.values()]
}

/** By hand: a pattern for the end is tried from every sign in between. */
function withoutSentenceEnd(path: string): string {
  let end = path.length
  while (end > 0 && SENTENCE_END.includes(path.charAt(end - 1))) end--
  return path.slice(0, end)
}
