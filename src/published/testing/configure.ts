/** The configuration of the installation and the files of the workspace, as a test changes them. */
import { isAbsolute, join, relative } from 'node:path'
import type { Files } from '../../ports/effects.js'
import { isRecord } from '../../protocol/text/json.js'
import type { TestFiles, TestRuntime } from './runtime-types.js'

const MAX_FILE = 16 * 1024 * 1024

/** `directory`: of the configuration. `takeEffect` lets the server read it again. */
export function configurer(
  directory: string,
  files: Pick<Files, 'read' | 'writeAtomic'>,
  takeEffect: () => Promise<void>,
): TestRuntime['configure'] {
  const path = join(directory, 'config.json')
  return async (change) => {
    const before: unknown = JSON.parse(await textOf(files, path))
    await files.writeAtomic(path, JSON.stringify(merged(before, change)))
    await takeEffect()
  }
}

/** Files of the workspace `directory`. */
export function workspaceFiles(directory: string, files: Pick<Files, 'read' | 'writeAtomic' | 'remove'>): TestFiles {
  return {
    write: (path, text) => files.writeAtomic(within(directory, path), text),
    read: (path) => textOf(files, within(directory, path)),
    remove: (path) => files.remove(within(directory, path)),
  }
}

export function within(directory: string, path: string): string {
  const whole = join(directory, path)
  if (isAbsolute(path) || relative(directory, whole).startsWith('..')) {
    throw new Error(`"${path}" is not in the workspace; paths of files are relative to it`)
  }
  return whole
}

async function textOf(files: Pick<Files, 'read'>, path: string): Promise<string> {
  return new TextDecoder().decode(await files.read(path, MAX_FILE))
}

function merged(before: unknown, change: unknown): unknown {
  if (!isRecord(before) || !isRecord(change)) return change
  return { ...before, ...Object.fromEntries(Object.entries(change).map(([key, value]) => [key, merged(before[key], value)])) }
}
