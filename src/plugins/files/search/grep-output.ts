/** Matches as the model reads them: grouped by file, within the limits of an output. Pure. */
import { LIMITS } from '../../../protocol/limits.js'
import { cutLine } from '../text/line-window.js'
import type { FoundFile } from './search.js'

const ITEMS = 100
const ITEM_TEXT = 200
/** Left for the header and the note. */
const RESERVED_LINES = 8
const RESERVED_BYTES = 1024

interface ShownItem {
  readonly path: string
  readonly line: number
  readonly text: string
}

export interface Shown {
  readonly text: string
  /** Matching lines that are shown. */
  readonly shown: number
  /** The first hundred of them. */
  readonly items: readonly ShownItem[]
}

/** Renders files in order until `limit` matching lines are shown or the output is full; `path` must be the path to show. */
export function renderMatches(files: readonly FoundFile[], limit: number): Shown {
  const output: string[] = []
  const items: ShownItem[] = []
  let bytes = RESERVED_BYTES
  let shown = 0
  const put = (line: string): boolean => {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > LIMITS.tools.outputBytes || output.length >= LIMITS.tools.outputLines - RESERVED_LINES) return false
    output.push(line)
    return true
  }
  const result = (): Shown => ({ text: output.join('\n'), shown, items })
  for (const file of files) {
    if (shown >= limit || !put('') || !put(`${file.path}:`)) return result()
    let last = 0
    for (const line of file.lines) {
      if (line.matched && shown >= limit) return result()
      if (last > 0 && line.number > last + 1 && hasContext(file) && !put('  --')) return result()
      if (!put(`  Line ${line.number}${line.matched ? ':' : '-'} ${cutLine(line.text)}`)) return result()
      last = line.number
      if (!line.matched) continue
      shown++
      if (items.length < ITEMS) items.push({ path: file.path, line: line.number, text: cutItem(line.text) })
    }
  }
  return result()
}

function hasContext(file: FoundFile): boolean {
  return file.lines.some((line) => !line.matched)
}

function cutItem(text: string): string {
  return text.length <= ITEM_TEXT ? text : text.slice(0, ITEM_TEXT).replace(/[\uD800-\uDBFF]$/, '')
}
