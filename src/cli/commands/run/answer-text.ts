/** Where the answer goes: to a screen as it comes, block by block, and elsewhere once nothing can withdraw it. */
import { markdownLines, settledLength } from '../../terminal/markdown.js'
import type { Line } from '../../terminal/span.js'
import type { Terminal } from '../../terminal/terminal.js'
import { createHeldText, type HeldText } from './held-text.js'

export function createAnswerText(terminal: Terminal): HeldText {
  if (terminal.isLive) return createShownText(terminal)
  return createHeldText((text) => {
    terminal.break()
    terminal.text(text)
  })
}

/** Markdown: a block is shown once it is whole. */
function createShownText(terminal: Terminal): HeldText {
  let shown = 0
  /** The message of the last block. */
  let shownOf: string | undefined
  let part: { readonly messageId: string; readonly partId: string; readonly text: string } | undefined

  function show(messageId: string, text: string): void {
    const lines = trimmed(markdownLines(text, terminal.width()))
    if (lines.length === 0) return
    terminal.answer(shown > 0 ? [[], ...lines] : lines)
    shown++
    shownOf = messageId
  }

  function settle(): void {
    if (part !== undefined) show(part.messageId, part.text)
    part = undefined
  }

  return {
    settle,
    add(messageId, partId, delta) {
      if (part?.partId !== partId) settle()
      const text = (part?.text ?? '') + delta
      const length = delta.includes('\n') ? settledLength(text) : 0
      if (length > 0) show(messageId, text.slice(0, length))
      part = { messageId, partId, text: text.slice(length) }
    },
    withdraw(messageId) {
      if (part?.messageId === messageId) part = undefined
      return shownOf === messageId
    },
  }
}

function trimmed(lines: readonly Line[]): readonly Line[] {
  const first = lines.findIndex((line) => line.length > 0)
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line.length > 0) + 1)
}
