/** What is known of files, kept for the next start: only files that changed since are read again. */
import type { PluginRows } from '../../../ports/doors.js'
import type { Source } from './sources.js'
import { nextTurn } from '../../../kernel/pause.js'

export interface SourceCache {
  /** By path; what was written by another version of the program is left out. */
  load(root: string): ReadonlyMap<string, Source>
  save(root: string, before: ReadonlyMap<string, Source>, after: ReadonlyMap<string, Source>): Promise<void>
}

interface Kept {
  readonly version: string
  readonly source: Source
}

/** Rows in one commit: others have to wait for it. */
const AT_ONCE = 128

export function createSourceCache(rows: PluginRows, version: string): SourceCache {
  return {
    load(root) {
      const found = rows.list('source', { group: root }).map(({ data }) => data as Kept) // our own rows
      return new Map(found.filter((kept) => kept.version === version).map(({ source }) => [source.path, source]))
    },
    async save(root, before, after) {
      const changed = [...after.values()].filter((source) => before.get(source.path) !== source)
      const removed = [...before.keys()].filter((path) => !after.has(path))
      for (let start = 0; start < changed.length; start += AT_ONCE) {
        rows.commit('process', (tx) => {
          for (const source of changed.slice(start, start + AT_ONCE)) {
            tx.put('source', { id: source.path, group: root, sort: 0, data: { version, source } satisfies Kept })
          }
        })
        await nextTurn()
      }
      if (removed.length > 0) rows.commit('process', (tx) => removed.forEach((path) => tx.delete('source', path)))
    },
  }
}
