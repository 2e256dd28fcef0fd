/** The two output streams of `svc run`: the answer on standard output, everything about it on standard error. */
import { escapedJson, printable } from '../../protocol/text/visible-text.js'
import {
  askPerson,
  createTextOut,
  eraseEcho,
  isAttended,
  isScreen,
  isWatched,
  screenWidth,
  showStatus,
  writeError,
  writeLines,
  writeOut,
} from './output.js'
import type { Line, Style } from './span.js'

export interface Terminal {
  /** Somebody watches the answer as it comes. */
  readonly isLive: boolean
  /** What is told beside it goes to a screen. */
  readonly isRich: boolean
  /** Columns, now. */
  width(): number
  /** Part of the answer, as it comes. */
  text(text: string): void
  /** The same in styled lines. */
  answer(lines: readonly Line[]): void
  /** Ends the line the answer is on, if there is one. */
  break(): void
  note(text: string): void
  /** Says that Ctrl-C was heard, in the place of what it left on the screen. */
  interrupted(): void
  /** Beside the answer. */
  lines(lines: readonly Line[]): void
  /** A line that moves; undefined takes it away. */
  status(line: Line | undefined): void
  error(text: string): void
  /** One line of machine-readable output. */
  record(json: string): void
  /** Asks the person; undefined when nobody is there to ask. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | undefined
}

/** The terminal of this process; a quiet one tells only the answer, errors, and what a person is asked. */
export function createTerminal({ isQuiet = false }: { readonly isQuiet?: boolean } = {}): Terminal {
  const out = createTextOut()
  let isMidLine = false

  function endLine(): void {
    out.end(isMidLine ? '\n' : '')
    isMidLine = false
  }

  function aside(text: string, style: Style): void {
    endLine()
    writeError(`${text}\n`, style)
  }

  return {
    isLive: isWatched(),
    isRich: isScreen() && !isQuiet,
    width: screenWidth,
    text(text) {
      out.write(text)
      isMidLine = !text.endsWith('\n')
    },
    answer: (lines) => writeLines('out', lines),
    break: endLine,
    note: (text) => (isQuiet ? undefined : aside(printable(text), 'dim')),
    interrupted() {
      endLine()
      eraseEcho()
      if (!isQuiet) aside('interrupted', 'dim')
    },
    lines(lines) {
      if (isQuiet) return
      endLine()
      writeLines('error', lines)
    },
    status: (line) => (isMidLine ? undefined : showStatus(line)),
    error: (text) => aside(`svc: ${text}`, 'red'),
    record: (json) => writeOut(`${escapedJson(json)}\n`),
    ask: isAttended()
      ? async (question, signal) => {
          endLine()
          return askPerson(question, signal)
        }
      : undefined,
  }
}
