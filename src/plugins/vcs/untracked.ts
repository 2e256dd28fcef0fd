/** Lines of files that git does not track. */
import type { NativeHost } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Work } from '../../kernel/work.js'

const NEWLINE = 0x0a
/** Lines between two looks at what was paid; a short line costs more than its bytes. */
const COUNTED = 1024
const PER_LINE = 8
/** Git takes a file for binary when a zero byte stands among its first ones. */
const BINARY_LOOK = 8000

/** As git would count them if the file were added: 0 for binary content, 1 for a link. 0 for what is too large, or cannot be read. */
export async function linesOf({ files }: Pick<NativeHost['effects'], 'files'>, path: string, work: Work): Promise<number> {
  try {
    const real = await files.realPath(path)
    if (real !== path) return 1
    const bytes = await files.read(path, LIMITS.vcs.countedBytes, { canonical: true })
    if (bytes.subarray(0, BINARY_LOOK).includes(0)) return 0
    let lines = 0
    for (let at = bytes.indexOf(NEWLINE), paid = 0; at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
      lines++
      if (lines % COUNTED !== 0) continue
      await work.pay((at - paid) * PER_LINE)
      paid = at
    }
    return bytes.length > 0 && bytes.at(-1) !== NEWLINE ? lines + 1 : lines
  } catch {
    return 0
  }
}
