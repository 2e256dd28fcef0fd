import { constants, accessSync, existsSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** The absolute entries of a search path, in order and once each: an empty or relative entry would mean the workspace (threat-model C5). */
export function cleanSearchPath(path: string): string {
  return [...new Set(path.split(':').filter(isAbsolute))].join(':')
}

/**
 * Absolute path of an executable regular file: `program` itself when absolute, else the first hit on the absolute
 * entries of `searchPath`. A relative path with a slash is never found.
 */
export function findProgram(program: string, searchPath: string): string | undefined {
  if (isAbsolute(program)) return isExecutable(program) ? program : undefined
  if (program === '' || program.includes('/')) return undefined
  for (const directory of cleanSearchPath(searchPath).split(':')) {
    const candidate = join(directory, program)
    if (directory !== '' && isExecutable(candidate)) return candidate
  }
  return undefined
}

function isExecutable(path: string): boolean {
  try {
    if (!existsSync(path) || !statSync(path).isFile()) return false // Most are not there, and this is the cheapest way to learn it.
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
