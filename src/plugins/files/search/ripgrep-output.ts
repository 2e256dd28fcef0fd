/** Reads the JSON lines of ripgrep; memory is bounded by the lines that are kept. */
import type { FoundFile, FoundLine } from './search.js'
import { MAX_LINES_PER_FILE } from './search.js'

/** Longest message that is read; a longer one, a line of millions of characters, is dropped. */
const MAX_MESSAGE = 2 * 1024 * 1024

interface Text {
  readonly text?: string
  readonly bytes?: string
}

interface Message {
  readonly type: string
  readonly data: { readonly path?: Text; readonly lines?: Text; readonly line_number?: number; readonly binary_offset?: number | null }
}

interface OpenFile {
  readonly path: string
  matches: number
  readonly lines: FoundLine[]
}

export interface RipgrepOutput {
  push(text: string): void
  /** Matching lines so far. */
  matches(): number
  /** Messages dropped for their length. */
  tooLong(): number
  finish(): readonly FoundFile[]
}

export function parseRipgrep(): RipgrepOutput {
  const found: FoundFile[] = []
  let open: OpenFile | undefined
  let rest = ''
  let dropping = false
  let dropped = 0
  let total = 0

  const close = (binary: boolean) => {
    if (open !== undefined && open.matches > 0 && !binary) found.push(open)
    open = undefined
  }

  const handle = ({ type, data }: Message) => {
    if (type === 'begin') open = { path: decode(data.path).replace(/^\.\//, ''), matches: 0, lines: [] }
    else if (type === 'end') close(typeof data.binary_offset === 'number')
    else if (open !== undefined && (type === 'match' || type === 'context')) {
      const matched = type === 'match'
      if (matched) {
        open.matches++
        total++
      }
      const text = decode(data.lines).replace(/\r?\n$/, '')
      if (open.lines.length < MAX_LINES_PER_FILE) open.lines.push({ number: data.line_number ?? 0, text, matched })
    }
  }

  const line = (text: string) => {
    if (dropping) dropped++
    else if (text !== '') handle(JSON.parse(text) as Message)
    dropping = false
  }

  return {
    push(text) {
      const lines = text.split('\n')
      for (const [index, part] of lines.entries()) {
        if (!dropping) rest += part
        if (rest.length > MAX_MESSAGE) {
          dropping = true
          rest = ''
        }
        if (index === lines.length - 1) break
        line(rest)
        rest = ''
      }
    },
    matches: () => total,
    tooLong: () => dropped,
    finish() {
      close(false)
      return found
    },
  }
}

function decode(text: Text | undefined): string {
  if (text?.text !== undefined) return text.text
  return text?.bytes === undefined ? '' : Buffer.from(text.bytes, 'base64').toString('utf8')
}
