/** A terminal without a window, for what a painter sends. */
import { Terminal } from '@xterm/headless'

export interface VirtualScreen {
  write(bytes: string): Promise<void>
  resize(columns: number, rows: number): void
  /** Scrollback and screen, without what is empty below. */
  text(): string
  cursor(): { readonly row: number; readonly column: number }
}

export function virtualScreen(columns: number, rows: number): VirtualScreen {
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 })
  return {
    write: (bytes) => new Promise((resolve) => terminal.write(bytes, resolve)),
    resize: (cols, height) => terminal.resize(cols, height),
    text() {
      const { active } = terminal.buffer
      const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
      return lines.join('\n').trimEnd()
    },
    cursor: () => ({ row: terminal.buffer.active.baseY + terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX }),
  }
}
