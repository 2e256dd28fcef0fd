/** What the script prints, as lines for the log, bounded for each run. */
import { LIMITS } from '../../../protocol/limits.js'
import { shownText } from '../values/text.js'

const { printLines, printBytes } = LIMITS.lua
const LONGEST = LIMITS.plugins.logLineBytes / 2

export interface Printer {
  /** A new run, with the whole allowance. */
  begin(): void
  print(parts: readonly Uint8Array[]): void
}

export function createPrinter(send: (line: string) => void): Printer {
  let lines = 0
  let bytes = 0
  return {
    begin() {
      lines = 0
      bytes = 0
    },
    print(parts) {
      if (lines > printLines || bytes > printBytes) return
      let left = LONGEST
      let line = ''
      for (const [index, part] of parts.entries()) {
        if (left <= 0) break
        line += `${index === 0 ? '' : '\t'}${shownText(part, left)}`
        left -= part.length + 1
      }
      lines++
      bytes += line.length + 1
      const last = lines > printLines || bytes > printBytes
      send(last ? 'print: this callback has printed enough; the rest of it is not shown' : line.replaceAll(/[\r\n]+/g, ' '))
    },
  }
}
