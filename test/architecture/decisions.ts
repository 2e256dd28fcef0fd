import { readdirSync, readFileSync } from 'node:fs'

/** Where the notes on decisions stand. */
const DECISIONS = new URL('../../docs/decisions/', import.meta.url)

export interface Row {
  readonly number: string
  readonly page: string
  readonly sentence: string
  readonly status: string
  readonly subject: string
}

/** The rows of the index, in its order. */
export function indexed(): Row[] {
  const rows = read('README.md').matchAll(/^\| \[(\d{3})\]\(([a-z-]+\.md)#d\1\) \| (.+?) \| (.+?) \| ([^|]+) \|$/gm)
  return [...rows].map(([, number = '', page = '', sentence = '', status = '', subject = '']) => ({
    number,
    page,
    sentence,
    status,
    subject,
  }))
}

/** Every decision that stands on a page: its number is an anchor with its heading right below. */
export function written(): { number: string; page: string; subject: string }[] {
  return pages().flatMap((page) => {
    const text = read(page)
    const subject = /^# (.+)$/m.exec(text)?.[1] ?? ''
    return [...text.matchAll(/^<a id="d(\d{3})"><\/a>\n\n## \1 \S/gm)].map(([, number = '']) => ({ number, page, subject }))
  })
}

/** Links between decisions that lead nowhere. */
export function lost(): string[] {
  const known = new Set(written().map(({ number, page }) => `${page}#d${number}`))
  return ['README.md', ...pages()].flatMap((page) =>
    [...read(page).matchAll(/\]\(([a-z-]+\.md#d\d{3})\)/g)].map(([, to = '']) => to).filter((to) => !known.has(to)),
  )
}

export function pages(): string[] {
  return readdirSync(DECISIONS).filter((name) => name.endsWith('.md') && name !== 'README.md')
}

function read(name: string): string {
  return readFileSync(new URL(name, DECISIONS), 'utf8')
}
