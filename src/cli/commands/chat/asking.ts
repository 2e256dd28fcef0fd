/** Questions that are answered in the line a person types in; one at a time, as the client puts them. */
import type { Terminal } from '../../terminal/terminal.js'

export interface Asking {
  /** Takes the next line; undefined when nothing is asked. */
  answer: ((text: string) => void) | undefined
}

/** `plain`, but what it asks is answered there. */
export function askingTerminal(plain: Terminal, asking: Asking): Terminal {
  return {
    ...plain,
    ask: (question, signal) =>
      new Promise((answer, refuse) => {
        plain.lines(question.split('\n').map((text) => [{ text, styles: ['bold'] }]))
        asking.answer = answer
        signal.addEventListener('abort', () => {
          asking.answer = undefined
          refuse(signal.reason as Error)
        })
      }),
  }
}
