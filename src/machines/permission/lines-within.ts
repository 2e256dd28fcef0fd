/**
 * The commands that a line may start, for rules that are asked about the line as a text. Pure.
 *
 * Cruder than the analysis that the shell of an agent is judged by, and on the strict side of it (threat-model G1, G2): whoever takes the
 * strictest of all of them allows nothing that a rule about one of them asks or denies.
 */

/** More of them are not looked at: such a line counts as one that cannot be read. */
const MOST = 64
const APART = /[;&|`$(){}<>\r\n]+/
const SHELL = /^(?:ba|da|z|k|a|c|tc|fi)?sh$/
/** Programs that start the rest of their words. */
const CARRIER =
  /^(?:env|nice|nohup|timeout|setsid|stdbuf|xargs|sudo|doas|time|command|exec|eval|busybox|ionice|chrt|unshare|nsenter|flock|watch|script|strace|find)$/

/** The line itself, and what stands in it between the signs that part commands; undefined when there are too many. */
export function linesWithin(line: string): readonly string[] | undefined {
  const parts = line
    .split(APART)
    .map((part) => part.replaceAll(/["']/g, '').trim())
    .filter((part) => part !== '')
  if (parts.length > MOST) return undefined
  return [...new Set([line, ...(parts.length === 1 && parts[0] === line.trim() ? [] : parts)])]
}

/** Lines that the words of a command hand to a shell, or to a program that starts other programs. */
export function carriedLines(words: readonly string[]): readonly string[] {
  const [program = '', ...rest] = words
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (SHELL.test(name)) return rest.slice(0, MOST).flatMap((word) => linesWithin(word) ?? [word])
  if (!CARRIER.test(name)) return []
  const most = rest.slice(0, MOST)
  return most.flatMap((_, at) => {
    const tail = rest.slice(at)
    const [inner = ''] = tail
    const carried = SHELL.test(inner.slice(inner.lastIndexOf('/') + 1)) ? carriedLines(tail) : []
    return [tail.join(' '), [inner.slice(inner.lastIndexOf('/') + 1), ...tail.slice(1)].join(' '), ...carried]
  })
}
