/** Where the program of a formatter is: never in the project (threat-model C5). */
import type { NativeHost } from '../../../actors/plugin/native/native.js'
import { isWithin } from '../../../protocol/caller.js'
import { basename, dirname, joinPath } from '../paths.js'

interface Machine {
  readonly files: Pick<NativeHost['effects']['files'], 'realPath'>
  readonly processes: Pick<NativeHost['effects']['processes'], 'find'>
}

/**
 * Absolute path of a program by its name; undefined when it is missing, or found in the project, as with `node_modules/.bin` on the search path.
 * An absolute path is the word of the installation.
 */
export async function formatterProgram({ files, processes }: Machine, name: string, directory: string): Promise<string | undefined> {
  const program = await processes.find(name)
  if (program === undefined || name.startsWith('/')) return program
  const real = await files.realPath(program).catch(() => program)
  return [program, real].some((path) => isOfProject(path, directory)) ? undefined : program
}

/** In the session directory, or among the packages of a folder above it. */
function isOfProject(path: string, directory: string): boolean {
  if (isWithin(directory, path)) return true
  for (let folder = directory; folder !== '/'; folder = dirname(folder)) {
    if (basename(folder) !== 'node_modules' && isWithin(joinPath(folder, 'node_modules'), path)) return true
  }
  return false
}
