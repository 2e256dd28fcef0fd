/** A directory as `read` shows it: sorted names, directories with a slash, a page at a time. */
import type { NativeHost, ToolResult } from '../../../ports/plugin.js'
import { ToolError } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { fileFailure } from './failures.js'
import { joinPath } from '../../../protocol/text/paths.js'
import { sortInTurns, type Turn } from '../../../kernel/sort.js'
import type { Target } from './targets.js'

export interface Page {
  /** First entry, 1-based. */
  readonly offset: number
  readonly limit: number
}

export async function listDirectory(
  files: NativeHost['effects']['files'],
  target: Target,
  { offset, limit, turn }: Page & { readonly turn: Turn },
): Promise<ToolResult> {
  const found = await files.readDirectory(target.path).catch((error: unknown) => {
    throw fileFailure(`list ${target.display}`, error)
  })
  const entries = await sortInTurns(found, (a, b) => (a.name < b.name ? -1 : 1), turn)
  if (offset > Math.max(1, entries.length))
    throw new ToolError(`Offset ${offset} is past the end: ${target.display} has ${entries.length} entries.`)
  const page = await Promise.all(entries.slice(offset - 1, offset - 1 + limit).map(async (entry) => shownName(files, target, entry)))
  const shown = fitting(page)
  const next = offset + shown.length
  const truncated = next <= entries.length
  const trailer = truncated
    ? `(Entries ${offset}-${next - 1} of ${entries.length}. Continue with offset=${next}.)`
    : `(${entries.length} ${entries.length === 1 ? 'entry' : 'entries'})`
  return {
    title: target.display,
    output: `<path>${target.display}</path>\n<type>directory</type>\n<entries>\n${[...shown, trailer].join('\n')}\n</entries>`,
    metadata: {
      path: target.display,
      type: 'directory',
      lines: shown.length,
      offset,
      limit,
      truncated,
      preview: shown.slice(0, 20).join('\n'),
    },
  }
}

async function shownName(files: NativeHost['effects']['files'], target: Target, entry: { name: string; kind: string }): Promise<string> {
  if (entry.kind !== 'link') return entry.kind === 'directory' ? `${entry.name}/` : entry.name
  const stat = await files.stat(joinPath(target.path, entry.name)).catch(() => undefined)
  return stat?.kind === 'directory' ? `${entry.name}/` : entry.name
}

function fitting(names: readonly string[]): string[] {
  const shown: string[] = []
  let bytes = 0
  for (const name of names) {
    bytes += Buffer.byteLength(name) + 1
    if (bytes > LIMITS.tools.outputBytes) break
    shown.push(name)
  }
  return shown
}
