/** The template of a command with its arguments (subsystems b.9). */

const PLACEHOLDER = /\$([1-9]\d{0,3}|ARGUMENTS)/g
const CLOSERS: Readonly<Record<string, string>> = { '"': '"', "'": "'", '[': ']' }

/**
 * `$1` … `$n` are arguments, the highest number takes all that are left; `$ARGUMENTS` is everything as it was written. A
 * template that names neither gets the arguments below it. What was filled in is not looked at again. Undefined when the
 * text would be longer than `maxLength`.
 */
export function expandCommand(template: string, written: string, maxLength: number): string | undefined {
  if (template.search(PLACEHOLDER) === -1) {
    const text = written.trim() === '' ? template : `${template}\n\n${written}`
    return text.length > maxLength ? undefined : text.trim()
  }
  return fill(template, argumentsOf(template, written), maxLength)?.trim()
}

/** What a placeholder of this template stands for. */
export type Arguments = (name: string) => string

export function argumentsOf(template: string, written: string): Arguments {
  const given = splitArguments(written)
  const numbers = [...template.matchAll(PLACEHOLDER)].map(([, name]) => (name === 'ARGUMENTS' ? 0 : Number(name)))
  const last = numbers.reduce((most, number) => Math.max(most, number), 0)
  const rest = last === 0 ? '' : given.slice(last - 1).join(' ')
  return (name) => (name === 'ARGUMENTS' ? written : Number(name) === last ? rest : (given[Number(name) - 1] ?? ''))
}

/** The text with its placeholders filled in; undefined when it would be longer than `maxLength`. */
export function fill(text: string, value: Arguments, maxLength: number): string | undefined {
  const pieces: string[] = []
  let length = 0
  let from = 0
  const add = (piece: string) => {
    pieces.push(piece)
    length += piece.length
  }
  for (const { 0: whole, 1: name = '', index } of text.matchAll(PLACEHOLDER)) {
    add(text.slice(from, index))
    add(value(name))
    from = index + whole.length
    if (length > maxLength) return undefined
  }
  add(text.slice(from))
  return length > maxLength ? undefined : pieces.join('')
}

/** At white space; quotes hold an argument together and go, brackets hold one together and stay. Linear in the text. */
export function splitArguments(text: string): readonly string[] {
  const found: string[] = []
  const missing = new Set<string>()
  const blank = /\s+/y
  const plain = /\S+/y
  for (let at = 0; at < text.length; ) {
    blank.lastIndex = at
    if (blank.test(text)) {
      at = blank.lastIndex
      continue
    }
    const closer = CLOSERS[text.charAt(at)]
    const end = closer === undefined || missing.has(closer) ? -1 : text.indexOf(closer, at + 1)
    if (closer !== undefined && end === -1) missing.add(closer)
    if (end !== -1) {
      found.push(closer === ']' ? text.slice(at, end + 1) : text.slice(at + 1, end))
      at = end + 1
      continue
    }
    plain.lastIndex = at
    plain.test(text)
    found.push(text.slice(at, plain.lastIndex))
    at = plain.lastIndex
  }
  return found
}
