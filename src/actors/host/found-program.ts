/** Where a program is that a name stands for: never in the workspace it works on (threat-model C5). */
import { basename, dirname, join } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import type { Effects } from '../../ports/effects.js'

interface Machine {
  readonly files: Pick<Effects['files'], 'realPath'>
  readonly processes: Pick<Effects['processes'], 'find'>
}

/**
 * Absolute path of a program by its name; undefined when it is missing, or found in the workspace, as with `node_modules/.bin` on the search path.
 * An absolute path is the word of whoever wrote it.
 */
export async function foundProgram({ files, processes }: Machine, name: string, directory: string): Promise<string | undefined> {
  const program = await processes.find(name)
  if (program === undefined || name.startsWith('/')) return program
  const real = await files.realPath(program).catch(() => program)
  return [program, real].some((path) => isOfProject(path, directory)) ? undefined : program
}

/** In the session directory, or among the packages of a folder above it. */
function isOfProject(path: string, directory: string): boolean {
  if (isWithin(directory, path)) return true
  for (let folder = directory; folder !== '/'; folder = dirname(folder)) {
    if (basename(folder) !== 'node_modules' && isWithin(join(folder, 'node_modules'), path)) return true
  }
  return false
}
