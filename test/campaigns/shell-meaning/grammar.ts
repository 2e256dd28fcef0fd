/**
 * Lines of shell as a grammar of meaning (`grammar.txt`): what sets a name, what uses one, and what stands around both.
 * Most lines do nothing; some would start `marker`, change a file or show a secret if the shell were trusted with them.
 *
 * `rule:` stands above its texts, `¦` between two of them, `⏎` and `⇥` for a newline and a tab. `§rule` is one of the
 * texts of a rule, `§'rule` one in single quotes, `@ROOT@` the place. The first text of a rule leads to an end: it is
 * taken when a line has become deep.
 */
import { readFileSync } from 'node:fs'

export type Grammar = ReadonlyMap<string, readonly string[]>

export const GRAMMAR: Grammar = parse(readFileSync(new URL('grammar.txt', import.meta.url), 'utf8'))

function parse(text: string): Grammar {
  const rules = new Map<string, string[]>()
  let texts: string[] = []
  for (const line of text.split('\n')) {
    const name = /^([a-z]+0?):$/.exec(line)?.[1]
    if (name !== undefined) rules.set(name, (texts = []))
    else if (line.trim() !== '')
      texts.push(
        ...line
          .trim()
          .split(' ¦ ')
          .map((each) => each.replaceAll('⏎', '\n').replaceAll('⇥', '\t')),
      )
  }
  return rules
}
