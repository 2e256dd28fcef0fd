/** Which files of the state and the configuration belong in a backup. Reads names only. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Of one process, or made anew: the lock, notes of servers, the log, the index of the search, what an upgrade or a restore has set aside. */
const LEFT_OUT = /^(?:agent\.|search\.sqlite3|server\.|users$|log$|\.restoring$|restore\.json|before-)/
/** Names a secret is kept under: in the state, and beside the configuration for a service manager (`EnvironmentFile`). */
const CREDENTIALS: ReadonlySet<string> = new Set(['auth.json', 'mcp-auth.json', 'plugin-auth.json', 'environment'])

/** Whether a name directly in the state or the configuration directory holds credentials. */
export function isCredential(name: string): boolean {
  return CREDENTIALS.has(name.replace(/\.lock$/, ''))
}

/** Whether a name directly in the state directory is of a running server, or can be made anew. */
export function isLeftOut(name: string): boolean {
  return LEFT_OUT.test(name)
}

export interface FoundFile {
  /** Below the directory, parted by `/`. */
  readonly path: string
  /** A link that leads out of what is kept, which is told. */
  readonly isLink: boolean
}

/** Files below a directory in a steady order; `wanted` judges the names directly in it. Links are not followed. */
export function* filesBelow(directory: string, wanted: (name: string) => boolean): Generator<FoundFile> {
  for (const entry of entriesOf(directory)) {
    if (wanted(entry.name)) yield* below(directory, entry)
  }
}

function* below(directory: string, { name, kind }: Entry): Generator<FoundFile> {
  if (kind === 'other') yield { path: name, isLink: true }
  else if (kind === 'file') yield { path: name, isLink: false }
  else if (kind === 'directory')
    for (const entry of entriesOf(join(directory, name)))
      for (const { path, isLink } of below(join(directory, name), entry)) yield { path: `${name}/${path}`, isLink }
}

interface Entry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'other' | 'none'
}

function entriesOf(directory: string): readonly Entry[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .map((entry): Entry => {
        if (entry.isSymbolicLink()) return { name: entry.name, kind: 'other' }
        return { name: entry.name, kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'none' }
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false }) === undefined) return []
    throw error
  }
}
