/** Programs that read program text: shells, whose text is analysed when it is plain, and other interpreters. */
import { literalOf, type Word } from '../words/word.js'
import { factsOf } from './table.js'

const INFORMATION = /^--(?:version|help)$/
const PLAIN_LONG = new Set(['--login', '--norc', '--noprofile', '--posix', '--noediting', '--restricted'])

/** `text`: program text to analyse; `script`: a file with it; `reason`: why it cannot be; none: an ordinary program call. */
export interface ShellUse {
  readonly text?: string
  readonly script?: Word
  readonly reason?: string
}

export function isShell(program: string): boolean {
  const { language } = factsOf(program)
  return language === 'bash' || language === 'other-shell'
}

/** What a shell called with these arguments would run. */
export function shellUse(program: string, args: readonly Word[]): ShellUse {
  if (args.length === 1 && INFORMATION.test(args[0]?.text ?? '')) return {}
  if (factsOf(program).language === 'other-shell') return { reason: `${program}: a shell whose language is not analysed` }
  let command = false
  let at = 0
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? ''
    if (args[at]?.dynamic === true) break
    if (text === '--' || text === '-') {
      at += 1
      break
    }
    if (text.startsWith('--')) {
      if (!PLAIN_LONG.has(text)) return { reason: `${program}: the option ${text} is not analysed` }
    } else if (/^[-+][a-zA-Z]+$/.test(text)) {
      if (/[sOkiIt]/.test(text)) return { reason: `${program}: the option ${text} is not analysed` }
      command ||= text.includes('c')
      if (text.includes('o')) at += 1
    } else break
  }
  const operand = args[at]
  if (operand === undefined) return { reason: `${program}: it reads commands from its input` }
  const literal = literalOf(operand)
  if (literal === undefined) return { reason: `${program}: what it runs is only known when it runs` }
  return command ? { text: literal } : { script: operand }
}

/** Why an interpreter that is given data by the line runs that data, or undefined. */
export function interpreterReason(program: string, args: readonly Word[], fed: boolean): string | undefined {
  if (!fed || factsOf(program).language !== 'interpreter') return undefined
  const hasProgram = args.some(
    (word) => word.text !== '-' && (!word.text.startsWith('-') || /^(?:-[a-zA-Z]*[cemprfV]|--\w)/.test(word.text)),
  )
  return hasProgram && !args.some((word) => word.text === '-') ? undefined : `${program}: it runs program text from its input`
}
