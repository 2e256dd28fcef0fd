/** Marks in sources and tests that point to the rules of `docs/rules`: a page and a number. */
import { readdirSync, readFileSync } from 'node:fs'

const RULES = new URL('../../docs/rules/', import.meta.url)

/** How the numbers of a page look; the last two pages are cited by another word. */
const NUMBERS: Record<string, string> = {
  'http-contract': '§?\\d+(?:\\.\\d+)*',
  'sessions-events': '§?\\d+(?:\\.\\d+)*',
  'plugin-protocol': '§?\\d+(?:\\.\\d+)*(?:-\\d+)?',
  subsystems: '[a-q](?:\\.\\d+)?(?![\\w-])',
  'threat-model': '(?:[A-Z]\\d+|§?\\d+(?:\\.\\d+)*)',
  laws: '§\\d+(?:\\.\\d+)*',
  choices: '\\d{1,2}(?!\\d|\\.\\d)',
}
const WORDS: Record<string, string> = { choices: 'choices?' }
const BETWEEN = '(?:, | and |–| to )'

/** What a text points to, as `page number`; a range by its ends. */
export function marksOf(text: string): string[] {
  const line = text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ')
  return Object.entries(NUMBERS).flatMap(([page, number]) => {
    const cited = new RegExp(`\\b${WORDS[page] ?? page} (${number}(?:${BETWEEN}${number})*)`, 'g')
    return [...line.matchAll(cited)].flatMap(([, list = '']) =>
      [...list.matchAll(new RegExp(number, 'g'))].map(([each]) => `${page} ${each.replace('§', '')}`),
    )
  })
}

/** Every rule that is written down, as `page number`. */
export function rules(): string[] {
  return Object.keys(NUMBERS).flatMap((page) => {
    const text = readFileSync(new URL(`${page}.md`, RULES), 'utf8')
    return [...text.matchAll(/^\| ([A-Za-z]?[\d.-]+|[a-q](?:\.\d+)?) \| \S.*\. \|$/gm)].map(([, number = '']) => `${page} ${number}`)
  })
}

/** The pages there are, without the index. */
export function pages(): string[] {
  return readdirSync(RULES).filter((name) => name !== 'README.md')
}

export const PAGES = Object.keys(NUMBERS)
