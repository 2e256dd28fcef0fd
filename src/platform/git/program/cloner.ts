/**
 * A repository that is cloned, in two steps (subsystems b.14; threat-model V1–V3).
 *
 * I1 Nothing that the repository or a setting names is run: no template, hook, filter, submodule, credential helper or question. What is
 *    fetched is fetched by the programs of `clone-programs.ts`; a checkout starts nothing.
 * I2 Neither what is fetched nor what is checked out is larger than `LIMITS.vcs.cloneBytes`, and what is checked out is counted before
 *    git makes its index of it: a few trees that name each other hold any number of files.
 */
import { join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { MiB } from '../../../protocol/limits/units.js'
import type { Effects } from '../../../ports/effects.js'
import { createClonePrograms } from './clone-programs.js'
import { type CloneProgress, createProgressReader } from './clone-progress.js'
import { createGitProcess } from './git-process.js'

interface CloneSource {
  readonly url: string
  readonly ref: string | undefined
  readonly depth: number | undefined
  /** The new directory, and the one it is in. */
  readonly target: string
  readonly parent: string
  readonly signal: AbortSignal
  /** Called with every step that git tells. */
  readonly onProgress: (step: CloneProgress) => void
}

/** Both throw `management.invalid_request`, with what git said last or what is too large. */
export interface Cloner {
  /** `git clone` over file, http and https, without a checkout, by way of the proxy and the authorities of the environment. */
  fetchNew(source: CloneSource): Promise<void>
  /** Writes the files of what was fetched. */
  checkOutNew(source: CloneSource): Promise<void>
}

/** What of the environment git knows for the way out. */
const WAY_OUT = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
]

export function createCloner(
  effects: Pick<Effects, 'files' | 'paths' | 'processes' | 'childEnv' | 'clock'>,
  {
    cloneBytes = LIMITS.vcs.cloneBytes,
    cloneFiles = LIMITS.vcs.cloneFiles,
  }: { readonly cloneBytes?: number; readonly cloneFiles?: number } = {},
): Cloner {
  const start = createGitProcess(effects)
  const programs = createClonePrograms(effects, start)
  const { cloneTimeout: timeout, errorText } = LIMITS.vcs

  async function run(
    { parent, signal, onProgress }: CloneSource,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    onStdout?: (chunk: Uint8Array) => void,
  ): Promise<void> {
    let said = ''
    const decoder = new TextDecoder()
    const progress = createProgressReader(
      (step) => {
        requireRoom(step.bytes ?? 0)
        onProgress(step)
      },
      (text) => (said = (said + text).slice(-errorText)),
    )
    const { exitCode } = await start(
      { args, cwd: parent, env },
      { signal, timeout, onStderr: (chunk) => progress.push(decoder.decode(chunk, { stream: true })), ...(onStdout && { onStdout }) },
    )
    progress.end()
    const hint = REDIRECTED.test(said) ? ' Redirects are not followed: clone the address that it leads to.' : ''
    if (exitCode !== 0) throw invalid(`Git could not clone the repository: ${said.trim() || 'it was ended.'}${hint}`)
  }

  return {
    async fetchNew(source) {
      const { url, ref, depth, target } = source
      const options = [...(ref === undefined ? [] : [`--branch=${ref}`]), ...(depth === undefined ? [] : [`--depth=${depth}`])]
      const args = [
        ...STAY,
        'clone',
        '--progress',
        '--no-checkout',
        '--template=',
        '--no-recurse-submodules',
        ...options,
        '--',
        url,
        target,
      ]
      const known = WAY_OUT.flatMap((name) => (effects.childEnv[name] === undefined ? [] : [[name, effects.childEnv[name]] as const]))
      const authorities = effects.childEnv['SSL_CERT_FILE']
      await run(source, args, {
        ...(await programs(source.parent, source.signal)),
        GIT_ALLOW_PROTOCOL: 'file:http:https',
        ...(authorities !== undefined && { GIT_SSL_CAINFO: authorities }),
        ...Object.fromEntries(known),
      })
    },
    async checkOutNew(source) {
      const env = { GIT_DIR: join(source.target, '.git'), GIT_WORK_TREE: source.target }
      const head = await start(
        { args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], cwd: source.parent, env },
        { signal: source.signal },
      )
      if (head.exitCode !== 0) return
      const sizes = createSum((bytes, files) => {
        requireRoom(bytes)
        if (files > cloneFiles) throw invalid(`The repository holds more than ${cloneFiles} files.`)
      })
      await run(source, ['ls-tree', '-r', '-l', '--full-tree', '-z', 'HEAD'], env, sizes)
      await run(source, ['reset', '--hard', '--quiet', '--no-recurse-submodules'], env)
    },
  }

  function requireRoom(bytes: number): void {
    if (bytes > cloneBytes) throw invalid(`The repository is larger than ${Math.round(cloneBytes / MiB)} MiB.`)
  }
}

/** Who named an address did not name where it leads (threat-model N1). */
const STAY = ['-c', 'http.followRedirects=false']
const REDIRECTED = /returned error: 30[12378]\b/

/** Counts the files and adds up the sizes of `git ls-tree -l -z`: `mode type object size<TAB>path<NUL>`. */
function createSum(onSum: (bytes: number, files: number) => void): (chunk: Uint8Array) => void {
  let rest = ''
  let sum = 0
  let files = 0
  return (chunk) => {
    const entries = (rest + Buffer.from(chunk).toString('latin1')).split('\0')
    rest = entries.pop() ?? ''
    for (const entry of entries) sum += Number(/^\d+ blob \w+ +(\d+)\t/.exec(entry)?.[1] ?? 0)
    files += entries.length
    onSum(sum, files)
  }
}

function invalid(message: string): SvcError {
  return new SvcError('management.invalid_request', message)
}
