/** The two output streams of `svc run`: the answer on standard output, everything about it on standard error. */
import { escapedJson, printable } from '../protocol/visible-text.js'
import { askPerson, createTextOut, isAttended, isWatched, type Style, writeError, writeOut } from './output.js'

export interface Terminal {
  /** Somebody watches the answer as it comes. */
  readonly isLive: boolean
  /** Part of the answer, as it comes. */
  text(text: string): void
  /** Ends the line the answer is on, if there is one. */
  break(): void
  note(text: string): void
  error(text: string): void
  /** One line of machine-readable output. */
  record(json: string): void
  /** Asks the person; undefined when nobody is there to ask. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | undefined
}

/** The terminal of this process. */
export function createTerminal(): Terminal {
  const answer = createTextOut()
  let isMidLine = false

  function endLine(): void {
    answer.end()
    if (isMidLine) writeOut('\n')
    isMidLine = false
  }

  function aside(text: string, style: Style): void {
    endLine()
    writeError(`${text}\n`, style)
  }

  return {
    isLive: isWatched(),
    text(text) {
      answer.write(text)
      isMidLine = !text.endsWith('\n')
    },
    break: endLine,
    note: (text) => aside(printable(text), 'dim'),
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
