/**
 * The programs that a clone may start, by name, in a directory of their own: git finds no others (threat-model V1). Not among them: transports
 * that name a program, credential helpers, `ssh`, large file storage.
 */
import { join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { Effects } from '../../../ports/effects.js'
import type { GitProcess } from './git-process.js'

/** What fetches over file, http and https. */
const NAMES = ['git', 'git-upload-pack', 'git-remote-http', 'git-remote-https']

/** The environment in which git finds them. */
type ClonePrograms = (cwd: string, signal: AbortSignal) => Promise<Readonly<Record<'PATH' | 'GIT_EXEC_PATH', string>>>

export function createClonePrograms({ files, paths }: Pick<Effects, 'files' | 'paths'>, start: GitProcess): ClonePrograms {
  /** Where the git that is installed has its own programs. */
  async function installed(cwd: string, signal: AbortSignal): Promise<string> {
    let told = ''
    const onStdout = (chunk: Uint8Array) => void (told += Buffer.from(chunk).toString('utf8'))
    const { exitCode } = await start({ args: ['--exec-path'], cwd, env: { GIT_EXEC_PATH: '' } }, { signal, onStdout })
    if (exitCode !== 0 || !told.startsWith('/')) throw new SvcError('feature.not_implemented', 'Git does not tell where its programs are.')
    return told.trimEnd()
  }

  return async (cwd, signal) => {
    const from = await installed(cwd, signal)
    const directory = join(paths.state, 'git', 'programs')
    for (const name of NAMES) {
      const [at, program] = [join(directory, name), join(from, name)]
      if ((await files.stat(program)) === undefined) await files.remove(at)
      else if ((await files.entry(at))?.kind !== 'link' || (await files.readLink(at)) !== program) await files.makeLink(at, program)
    }
    return { PATH: directory, GIT_EXEC_PATH: directory }
  }
}
