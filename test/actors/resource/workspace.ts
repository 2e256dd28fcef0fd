import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Files } from '../../../src/ports/effects.js'
import type { WorkspacePlugins } from '../../../src/ports/view.js'
import { createResourceFacades } from '../../../src/actors/resource/facade/resources.js'
import { createFakeEffects } from '../../fakes/effects.js'

interface Options {
  readonly env?: Readonly<Record<string, string>>
  /** Whether `root/work` is the top of a Git worktree; yes unless told otherwise. */
  readonly git?: boolean
  readonly onUpdated?: (directory: string) => void
  readonly plugins?: WorkspacePlugins
  /** Watches of folders, made of the real ones. */
  readonly watchFolder?: (real: Files['watchFolder']) => Files['watchFolder']
}

/** A configuration root, a home and a worktree in a temporary directory, and the facades over them. */
export function createWorkspace({ env = {}, git = true, onUpdated, plugins, watchFolder }: Options = {}) {
  const fake = createFakeEffects({ env })
  const counts = { stat: 0, read: 0, list: 0 }
  const calls: string[] = []
  const files = countCalls(fake.files, counts, calls)
  const effects = { ...fake, files: { ...files, watchFolder: watchFolder?.(files.watchFolder) ?? files.watchFolder } }
  const facades = createResourceFacades({ effects, plugins: () => plugins, ...(onUpdated !== undefined && { onUpdated }) })
  const work = join(fake.root, 'work')
  if (git) mkdirSync(join(work, '.git'))
  return {
    ...facades,
    effects,
    counts,
    /** Paths about which the disk was asked. */
    calls: () => calls,
    forgetCalls: () => void calls.splice(0),
    root: fake.root,
    work,
    /** Canonical path of a file below the temporary root. */
    at: (path: string) => join(fake.root, path),
    /** Writes a file below the temporary root; what is not text becomes JSON. */
    write(path: string, content: unknown): void {
      const target = join(fake.root, path)
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content))
    },
    /** As clients see it. */
    load: async (directory = work) => facades.configs.show(directory),
    /** What counts of it. */
    effective: async (directory = work) => facades.configs.load(directory, { fresh: true }),
    messages: async (directory = work) => (await facades.configs.validate(directory)).diagnostics.map(({ message }) => message),
  }
}

function countCalls(files: Files, counts: { stat: number; read: number; list: number }, calls: string[]): Files {
  return {
    ...files,
    realPath: async (path) => {
      calls.push(path)
      return files.realPath(path)
    },
    entry: async (path) => {
      calls.push(path)
      return files.entry(path)
    },
    exposure: async (path) => {
      calls.push(path)
      return files.exposure(path)
    },
    stat: async (path) => {
      counts.stat++
      calls.push(path)
      return files.stat(path)
    },
    read: async (path, maxBytes, options) => {
      counts.read++
      calls.push(path)
      return files.read(path, maxBytes, options)
    },
    readDirectory: async (path) => {
      counts.list++
      calls.push(path)
      return files.readDirectory(path)
    },
  }
}
