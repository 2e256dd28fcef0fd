/** The manual page, written from the pages of the commands. */
import { optionText, wordText } from './help.js'
import type { Page } from '../line/page.js'
import { PAGES } from './pages.js'

const EXIT_STATUS: readonly (readonly [code: string, means: string])[] = [
  ['0', 'done'],
  ['1', 'failed, for the reason printed'],
  ['2', 'the command line was not understood'],
  ['3', 'of svc run: something was refused because nobody was there to be asked'],
  ['130', 'interrupted'],
]

/** roff of the `man` macros. */
export function manualPage(version: string): string {
  const pages = PAGES.flatMap((each) => ('pages' in each ? each.pages : [each]))
  const groups = PAGES.flatMap((each) => ('pages' in each ? (each.notes ?? []) : []))
  return [
    `.TH SVC 1 "" "svc ${escaped(version)}" "User commands"`,
    '.SH NAME',
    'svc \\- a local runtime for coding agents',
    '.SH SYNOPSIS',
    '.B svc',
    '.I command',
    '[options]',
    '.SH COMMANDS',
    ...pages.flatMap(pageLines),
    '.SH NOTES',
    ...groups.flatMap((note) => ['.PP', escaped(note)]),
    '.SH EXIT STATUS',
    ...EXIT_STATUS.flatMap(([code, means]) => ['.TP', `.B ${code}`, escaped(means)]),
    '',
  ].join('\n')
}

function pageLines({ name, summary, words, options, examples, notes = [] }: Page): string[] {
  return [
    `.SS ${escaped(['svc', name, ...words.map(wordText)].join(' '))}`,
    escaped(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...Object.entries(options).flatMap(([option, spec]) => {
      const otherwise = spec.otherwise === undefined ? '' : ` Otherwise: ${spec.otherwise}.`
      return ['.TP', `.B ${escaped(optionText(option, spec))}`, escaped(`${spec.help}.${otherwise}`)]
    }),
    ...notes.flatMap((note) => ['.PP', escaped(note)]),
    '.PP',
    'Examples:',
    ...examples.flatMap(([line, does]) => ['.PP', '.nf', `.RS`, escaped(line), `.I ${escaped(does)}`, '.RE', '.fi']),
  ]
}

/** Backslashes and hyphens stay what they are; no line is a request. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
}
