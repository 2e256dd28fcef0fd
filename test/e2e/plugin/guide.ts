/** The guide for plugin authors as something that can be followed: its sections, each with its files and commands in order. */
import { readFileSync } from 'node:fs'

type Step =
  | { readonly type: 'commands'; readonly script: string }
  /** `path` is relative to the workspace. */
  | { readonly type: 'file'; readonly path: string; readonly text: string }

export interface Section {
  readonly title: string
  readonly steps: readonly Step[]
}

/** Sections of level 3 below a heading of level 2. Throws for a block that says neither that it is a command nor which file it is. */
export function readGuide(file: URL, chapter: string): Section[] {
  const text = readFileSync(file, 'utf8')
  const start = text.indexOf(`\n## ${chapter}\n`)
  const end = text.indexOf('\n## ', start + 1)
  const [, ...sections] = text.slice(start, end).split(/^### /m)
  return sections.map((section) => ({ title: section.slice(0, section.indexOf('\n')), steps: stepsOf(section) }))
}

function stepsOf(section: string): Step[] {
  return [...section.matchAll(/^(`{3,})(\w+)(?: (\S+))?\n([^]*?)\n\1$/gm)].map(([, , language, path, body = '']) => {
    if (language === 'sh') return { type: 'commands', script: body }
    if (path === undefined) throw new Error(`a block in ${String(language)} is neither a command nor a file: ${body.slice(0, 60)}`)
    return { type: 'file', path, text: `${body}\n` }
  })
}
