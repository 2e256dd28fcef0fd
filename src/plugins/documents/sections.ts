/** Documents as sections, and which of them a question is about. Pure. */

export interface Section {
  /** `operations.md#the-way-out`; without `#` what stands before the first heading. */
  readonly path: string
  readonly heading: string
  readonly text: string
}

/** One for each heading outside of code; a section ends where the next one begins. */
export function sectionsOf(file: string, text: string): readonly Section[] {
  const sections: { path: string; heading: string; lines: string[] }[] = [{ path: file, heading: file, lines: [] }]
  let isCode = false
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const heading = isCode ? undefined : /^#{1,4} +(.+)$/.exec(line)?.[1]
    if (heading !== undefined) sections.push({ path: `${file}#${anchorOf(heading)}`, heading: heading.trim(), lines: [] })
    sections.at(-1)?.lines.push(line)
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trim() })).filter(({ text: own }) => own !== '')
}

/** As the pages of repositories name headings. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

/** Best first: sections with most of the words, then those with a word in the heading, then those with more of them. */
export function ranked(sections: readonly Section[], query: string, limit: number): readonly Section[] {
  const words = [...new Set(query.toLowerCase().split(/[^\p{L}\p{N}_.-]+/u))].filter((word) => word !== '')
  const scored = sections.map((section) => ({ section, score: scoreOf(section, words) })).filter(({ score }) => score > 0)
  return scored
    .toSorted((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ section }) => section)
}

function scoreOf({ heading, text }: Section, words: readonly string[]): number {
  const body = text.toLowerCase()
  const title = heading.toLowerCase()
  let score = 0
  for (const word of words) {
    const times = body.split(word).length - 1
    if (times > 0) score += 100 + (title.includes(word) ? 50 : 0) + Math.min(times, 20)
  }
  return score
}

/** The lines of a section around the first word of a question. */
export function excerptOf({ text }: Section, query: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const at = lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)))
  return lines
    .slice(Math.max(0, at - 1), Math.max(0, at - 1) + 3)
    .map((line) => line.slice(0, 300))
    .join('\n')
}
