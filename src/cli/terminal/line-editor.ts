/**
 * A line that is typed at the bottom of a terminal while other things are printed above it: Node's line editor, with history and completion.
 *
 * I1 What is typed stays while something is printed: it is taken away before and drawn again after (`withoutLine`).
 */
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'

export interface EditorOptions {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  /** Oldest last, as `node:readline` has it. */
  readonly history: readonly string[]
  /** Before the line when nothing goes on. */
  readonly prompt: string
  columns(): number
  widthOf(text: string): number
  readonly complete: (line: string) => readonly string[]
  readonly onLine: (line: string) => void
  /** Ctrl-C; `typed` was taken away. */
  readonly onInterrupt: (typed: string) => void
  /** Ctrl-D, or the input has ended. */
  readonly onEnd: () => void
  readonly onHistory: (history: readonly string[]) => void
}

export interface LineEditor {
  prompt(text: string): void
  /** Puts a text into the line as if it had been typed; false when there is something in it already. */
  type(text: string): boolean
  /** Prints something above the line. */
  withoutLine(print: () => void): void
  close(): void
}

const HISTORY = 500

export function openLineEditor(options: EditorOptions): LineEditor {
  const { input, output } = options
  let line: Interface | undefined = createInterface({
    input,
    output,
    terminal: true,
    historySize: HISTORY,
    history: [...options.history],
    removeHistoryDuplicates: true,
    completer: (typed: string): [string[], string] => {
      const word = /\S*$/.exec(typed)?.[0] ?? ''
      return [[...options.complete(typed)], word]
    },
  })
  let shown = options.prompt
  line.on('line', (text) => {
    // What moved before the line says nothing once it is sent.
    if (shown !== options.prompt && options.widthOf(`${shown}${text}`) < options.columns()) {
      moveCursor(output, 0, -1)
      clearScreenDown(output)
      output.write(`${options.prompt}${text}\n`)
    }
    options.onLine(text)
  })
  line.on('history', (history: string[]) => options.onHistory(history))
  line.on('close', () => {
    line = undefined
    cursorTo(output, 0)
    clearScreenDown(output)
    options.onEnd()
  })
  line.on('SIGINT', () => {
    const typed = line?.line ?? ''
    line?.write(null, { ctrl: true, name: 'e' })
    line?.write(null, { ctrl: true, name: 'u' })
    options.onInterrupt(typed)
  })

  return {
    prompt(text) {
      if (line === undefined) return
      shown = text
      line.setPrompt(text)
      line.prompt(true)
    },
    type(text) {
      if (line === undefined || line.line !== '') return false
      line.write(text)
      return true
    },
    withoutLine(print) {
      if (line === undefined) return print()
      const { rows } = line.getCursorPos()
      if (rows > 0) moveCursor(output, 0, -rows)
      cursorTo(output, 0)
      clearScreenDown(output)
      print()
      line.prompt(true)
    },
    close: () => line?.close(),
  }
}
