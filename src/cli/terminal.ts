/** The two output streams of `svc run`: the answer on standard output, everything about it on standard error. */
import { createInterface } from 'node:readline/promises'
import { printable } from './tool-line.js'

export interface Terminal {
  /** Part of the answer, exactly as it comes (made harmless when a terminal shows it). */
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

const DIM = '\u001b[2m'
const RED = '\u001b[31m'
const RESET = '\u001b[0m'

/** The terminal of this process. */
export function createTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  const colour = stderr.isTTY && process.env['NO_COLOR'] === undefined
  let open = false

  function endLine(): void {
    if (open) stdout.write('\n')
    open = false
  }

  function aside(text: string, style: string): void {
    endLine()
    stderr.write(colour ? `${style}${text}${RESET}\n` : `${text}\n`)
  }

  return {
    text(text) {
      stdout.write(stdout.isTTY ? harmless(text) : text)
      open = !text.endsWith('\n')
    },
    break: endLine,
    note: (text) => aside(printable(text), DIM),
    error: (text) => aside(`svc: ${text}`, RED),
    record: (json) => stdout.write(`${json}\n`),
    ask: stdin.isTTY && stderr.isTTY ? ask : undefined,
  }

  async function ask(question: string, signal: AbortSignal): Promise<string> {
    endLine()
    const lines = createInterface({ input: stdin, output: stderr })
    lines.on('SIGINT', () => process.emit('SIGINT'))
    try {
      return (await lines.question(question, { signal })).trim()
    } finally {
      lines.close()
    }
  }
}

/** Keeps line ends and tabs; other control and direction characters cannot reach the terminal (threat-model S4). */
function harmless(text: string): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === '\n' || character === '\t' ? character : '',
  )
}
