/** Help texts, written from the pages. */
import type { Group, Option, Page } from '../line/page.js'
import { PAGES } from './pages.js'

const WIDTH = 100
const NAME = 24
const HELP = 45

/** Help for a command or an action of one (`session list`); the overview without one. */
export function helpText(topic: string | undefined): string {
  const command = PAGES.find(({ name }) => name === topic)
  if (command !== undefined) return 'pages' in command ? groupText(command) : pageText(command)
  const action = PAGES.flatMap((each) => ('pages' in each ? each.pages : [])).find(({ name }) => name === topic)
  return action === undefined ? overview() : pageText(action)
}

function overview(): string {
  const rows = PAGES.map((each) => `  ${usageOf(each).padEnd(NAME)}${each.summary}\n`)
  return `svc - a local runtime for coding agents

  ${'svc'.padEnd(NAME)}a conversation on the whole terminal (-c: the latest one; --plain: in lines)
${rows.join('')}
  ${'svc help <command>'.padEnd(NAME)}its options, and examples
  ${'svc --version'.padEnd(NAME)}print the version
`
}

function usageOf(each: Page | Group): string {
  if ('pages' in each) return `svc ${each.name} <action>`
  return each.name === 'run' ? 'svc run "<prompt>"' : `svc ${each.name}`
}

function pageText({ name, summary, words, options, examples, notes = [] }: Page): string {
  const usage = ['svc', name, ...(Object.keys(options).length === 0 ? [] : ['[options]']), ...words.map(wordText)].join(' ')
  const rows = Object.entries(options).map((entry) => optionRow(entry, 2))
  return [
    `${usage}\n\n${wrap(sentence(summary))}`,
    ...(rows.length === 0 ? [] : [rows.join('')]),
    exampleRows(examples),
    ...notes.map(wrap),
  ].join('\n')
}

/** Every action with the options of its own; what all of them take stands below. */
function groupText({ name, summary, pages, notes = [] }: Group): string {
  const common = Object.entries(pages[0]?.options ?? {}).filter(([option]) => pages.every(({ options }) => option in options))
  const shared = new Set(common.map(([option]) => option))
  const actions = pages.map((page) => {
    const usage = [page.name.slice(name.length + 1), ...page.words.map(wordText)].join(' ')
    const own = Object.entries(page.options).filter(([option]) => !shared.has(option))
    return `  ${usage.padEnd(NAME - 1)} ${page.summary}\n${own.map((entry) => optionRow(entry, 4)).join('')}`
  })
  return [
    `svc ${name} <action> [options]\n\n${wrap(sentence(summary))}`,
    actions.join(''),
    ...(common.length === 0 ? [] : [common.map((entry) => optionRow(entry, 2)).join('')]),
    ...notes.map(wrap),
    `  ${`svc help ${name} <action>`.padEnd(NAME)}  the options of one action, and examples\n`,
  ].join('\n')
}

/** `<id>`, `[<path>...]`. */
export function wordText({ name, needs, many }: Page['words'][number]): string {
  const text = `<${name}>${many === true ? '...' : ''}`
  return needs === undefined ? `[${text}]` : text
}

/** `--port <number>`, `-c, --continue`. */
export function optionText(name: string, option: Option): string {
  const long = option.type === 'flag' ? `--${name}` : `--${name} <${option.value}>`
  return option.short === undefined ? long : `${long}, -${option.short}`
}

function optionRow([name, option]: readonly [string, Option], indent: number): string {
  const head = `${' '.repeat(indent)}${optionText(name, option)}`
  const help = option.otherwise === undefined ? option.help : `${option.help.padEnd(HELP - 2)}  (${option.otherwise})`
  return `${`${head.padEnd(NAME + 1)} ${help}`.trimEnd()}\n`
}

function exampleRows(examples: Page['examples']): string {
  const width = Math.max(...examples.map(([line]) => line.length))
  return examples.map(([line, does]) => `  ${line.padEnd(width)}  # ${does}\n`).join('')
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
}

function wrap(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > WIDTH) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return `${[...lines, line].join('\n')}\n`
}
