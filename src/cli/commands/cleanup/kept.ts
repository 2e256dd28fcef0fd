/** What the state and cache directories hold: sizes, and how each part goes. Reads only. */
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Paths } from '../../../ports/effects.js'

export interface Kept {
  readonly what: string
  readonly path: string
  readonly files: number
  readonly bytes: number
  /** Of these, bytes that `--yes` removes. */
  readonly goes: number
  /** How the rest goes. */
  readonly stays: string
}

const PARTS: readonly (readonly [what: string, name: string, stays: string])[] = [
  ['uploads', 'artifacts', 'when they are deleted, and as storage.artifactsDays says'],
  ['outputs of tools', 'tool-output', 'by themselves, after storage.outputsDays (7) or beyond storage.outputsMiB (1024)'],
  ['states for undo', 'undo', 'with their conversations'],
  ['copies of plugins', 'plugins', 'by themselves, 7 days after their last use'],
  ['stand-ins of repositories', 'git', 'with their work trees'],
  ['versions of skills', 'skill-versions', 'with their skills'],
  ['notes on projects', 'memory', 'when somebody removes them'],
  ['clones', 'workspaces', 'with their repositories'],
]

/** `free`: bytes of the database that hold nothing. */
export function keptParts({ state, cache }: Paths, free: (path: string) => number): readonly Kept[] {
  const database = join(state, 'agent.sqlite3')
  const index = join(state, 'search.sqlite3')
  const goes = existsSync(database) ? free(database) : 0
  const log = sizeOf(join(state, 'log'))
  const cached = sizeOf(cache)
  return [
    { what: 'conversations', path: database, ...databaseSize(database), goes, stays: 'with --unused-for, or svc session delete' },
    {
      what: 'search index',
      path: index,
      ...databaseSize(index),
      goes: 0,
      stays: 'with their conversations, and by itself beyond storage.searchMiB (1024 of text)',
    },
    ...PARTS.map(([what, name, stays]) => ({ what, path: join(state, name), ...sizeOf(join(state, name)), goes: 0, stays })),
    ...setAside(state),
    { what: 'log', path: join(state, 'log'), ...log, goes: sizeOf(olderLog(state)).bytes, stays: 'by itself, when it is full' },
    { what: 'cache', path: cache, ...cached, goes: cached.bytes, stays: 'made again when needed' },
  ]
}

/** What upgrades and restores have kept. */
function setAside(state: string): readonly Kept[] {
  const names = existsSync(state) ? readdirSync(state).filter((name) => name.startsWith('before-')) : []
  return names.map((name) => {
    const isCopy = name.startsWith('before-schema-')
    const [what, stays] = isCopy ? ['before an upgrade', 'by itself, the fourth of them'] : ['before a restore', 'when somebody removes it']
    return { what, path: join(state, name), ...sizeOf(join(state, name)), goes: 0, stays }
  })
}

/** With what SQLite keeps beside it. */
function databaseSize(path: string): { readonly files: number; readonly bytes: number } {
  const files = [path, `${path}-wal`, `${path}-shm`].filter((each) => existsSync(each))
  return { files: files.length, bytes: files.reduce((sum, each) => sum + sizeOf(each).bytes, 0) }
}

/** The half of the log that nothing is added to. */
export function olderLog(state: string): string {
  return join(state, 'log', 'svc.log.1')
}

/** Of a file, or of everything below a folder; links are not followed. What cannot be read counts nothing. */
function sizeOf(path: string): { readonly files: number; readonly bytes: number } {
  try {
    const found = lstatSync(path)
    if (!found.isDirectory()) return { files: 1, bytes: found.size }
    const inside = readdirSync(path).map((name) => sizeOf(join(path, name)))
    return { files: inside.reduce((sum, { files }) => sum + files, 0), bytes: inside.reduce((sum, { bytes }) => sum + bytes, 0) }
  } catch {
    return { files: 0, bytes: 0 }
  }
}
