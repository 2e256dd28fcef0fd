/** Which file of a path Node runs, and what has to be readable for that (plugin-protocol §9.2). */
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Files } from '../../../ports/effects.js'
import { isRecord } from '../../../protocol/text/json.js'

export interface Script {
  /** Absolute path of a regular file. */
  readonly file: string
  /** What has to be readable to run it: the directory of its package, or its own, or the file alone where that would be too much. */
  readonly root: string
}

type ScriptFiles = Pick<Files, 'stat' | 'read' | 'realPath'>

/**
 * The script at an absolute path: the file itself, or `main`, `index.mjs` or `index.js` of a package directory; undefined
 * when there is none. `home` is never part of a root.
 */
export async function findScript(files: ScriptFiles, path: string, home: string): Promise<Script | undefined> {
  const kind = await kindOf(files, path)
  if (kind === 'file') return { file: path, root: await packageRoot(files, path, home) }
  if (kind !== 'directory') return undefined
  const main = await mainOf(files, path)
  const candidates = [...(main === undefined ? [] : [main]), join(path, 'index.mjs'), join(path, 'index.js')]
  for (const file of candidates) if ((await kindOf(files, file)) === 'file') return { file, root: path }
  return undefined
}

/** Directories that have to be readable to run a script, links resolved as well. */
export async function scriptReads(files: ScriptFiles, { file, root }: Script, home: string): Promise<readonly string[]> {
  const real = await files.realPath(file).catch(() => file)
  return isWithin(root, real) ? [root] : [root, await packageRoot(files, real, home)]
}

const ANCESTORS = 8

/** The nearest directory above a file that holds `package.json`; the file's own when there is none near. */
async function packageRoot(files: ScriptFiles, file: string, home: string): Promise<string> {
  const own = dirname(file)
  if (isWithin(own, home)) return file
  let current = own
  for (let step = 0; step < ANCESTORS && !isWithin(current, home); step++) {
    if ((await kindOf(files, join(current, 'package.json'))) === 'file') return current
    current = dirname(current)
  }
  return own
}

/** `main` of a package, when it stays in the package. */
async function mainOf(files: ScriptFiles, directory: string): Promise<string | undefined> {
  try {
    const text = new TextDecoder().decode(await files.read(join(directory, 'package.json'), LIMITS.plugins.manifestBytes))
    const manifest: unknown = JSON.parse(text)
    if (!isRecord(manifest) || typeof manifest['main'] !== 'string' || manifest['main'].includes('\0')) return undefined
    const main = resolve(directory, manifest['main'])
    return isWithin(directory, main) ? main : undefined
  } catch {
    return undefined // no package file, or none that can be read: the other candidates remain
  }
}

async function kindOf(files: ScriptFiles, path: string) {
  return (await files.stat(path).catch(() => undefined))?.kind
}
