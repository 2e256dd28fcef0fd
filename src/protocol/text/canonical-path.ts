/** Canonical paths of what may not exist yet, over whatever reads links. */
import { SvcError } from '../errors.js'
import { resolvePath } from './paths.js'

/**
 * The real path of the longest beginning of `path` that exists, and the rest, in which steps upwards are taken: nobody who makes a folder of
 * that name later is led elsewhere by them. Rejects with `request.invalid` for what
 * names no place, and with what else `realPath` fails with.
 */
export async function canonicalPath(realPath: (path: string) => Promise<string>, path: string): Promise<string> {
  if (path.includes('\0')) throw new SvcError('request.invalid', 'The path contains a NUL character.')
  const missing: string[] = []
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const existing = at === '' ? '/' : at
    try {
      const real = await realPath(existing)
      return resolvePath(real, `./${missing.join('/')}`)
    } catch (error) {
      if (!isAbsent(error) || existing === '/') throw error
      missing.unshift(at.slice(at.lastIndexOf('/') + 1))
    }
  }
}

function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR'
}
