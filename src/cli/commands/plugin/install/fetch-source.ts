/** The files of a package from its source. Nothing of it runs, neither here nor by npm or git. */
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { npmEnvironment, NPM_OPTIONS, npmWords } from '../../../../actors/plugin/entry/npm-cache.js'
import { requireAddress } from '../../../../actors/workspace/clones.js'
import { createCloner } from '../../../../platform/git/program/cloner.js'
import { readHead } from '../../../../platform/git/refs.js'
import { repositoryAt } from '../../../../platform/git/repository.js'
import type { Effects } from '../../../../ports/effects.js'
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { messageOf } from '../../../../protocol/message-of.js'
import { MANIFEST_FILE } from '../../../../protocol/plugin/plugin.js'
import { isRecord } from '../../../../protocol/text/json.js'
import { filesOfDirectory, filesOfTarball, FOLDER, packageIn } from './package-content.js'
import type { SourceSpec } from './source-spec.js'
import type { ArchivedFile } from './tar-read.js'
import { makeDirectoriesSync } from '../../../../store/disk/make-directories.js'

export interface Fetched {
  readonly files: readonly ArchivedFile[]
  /** What exactly was taken: a version with its checksum, or a commit. */
  readonly resolved?: string
}

interface Fetching {
  readonly effects: Effects
  /** An empty folder of ours, which the caller removes. */
  readonly room: string
  readonly signal: AbortSignal
  /** What is being waited for. */
  tell(what: string): void
}

/** Rejects with a sentence. */
export async function fetchSource(source: SourceSpec, fetching: Fetching): Promise<Fetched> {
  switch (source.type) {
    case 'directory':
      return { files: await filesOfDirectory(fetching.effects, packageFolder(source.path)) }
    case 'tarball':
      return { files: filesOfTarball(absolute(source.path), source.below) }
    case 'npm':
      return fetchNpm(source, fetching)
    case 'git':
      return fetchGit(source, fetching)
  }
}

/** The canonical folder of a package: the one that is named, or its `package/` where the sources are beside that. Throws a sentence. */
export function packageFolder(path: string): string {
  const named = absolute(path)
  const found = [named, join(named, FOLDER)].find((folder) => existsSync(join(folder, MANIFEST_FILE)))
  if (found !== undefined) return realpathSync(found)
  const what = existsSync(named) ? `holds no ${MANIFEST_FILE}` : 'does not exist'
  throw new SvcError('resource.not_found', `${named} ${what}; a new package is made by: svc plugin init ${path}`)
}

export function absolute(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path)
}

/** By npm, so that its registry, its login and its checksums count. */
async function fetchNpm({ spec }: Extract<SourceSpec, { type: 'npm' }>, { effects, room, signal, tell }: Fetching): Promise<Fetched> {
  const npm = await effects.processes.find('npm')
  if (npm === undefined) throw new SvcError('feature.not_implemented', 'the program "npm" was not found on the search path')
  tell(`npm fetches ${spec}`)
  const run = async (args: readonly string[]) =>
    effects.processes.run({
      command: npm,
      args,
      cwd: room,
      env: npmEnvironment(effects),
      signal,
      timeoutMs: LIMITS.plugins.installTimeout,
      captureBytes: LIMITS.plugins.manifestBytes,
    })
  const over = new AbortController()
  const waiting = delay(SOON, undefined, { signal: over.signal })
    .then(async () => run(['config', 'get', 'registry', '--loglevel=error']))
    .then(({ stdout }) => tell(`npm still waits for its registry, ${originOf(stdout)}`))
    .catch(() => undefined) // it is there, or nobody knows
  const result = await run(['pack', '--json', '--pack-destination', room, ...NPM_OPTIONS, ...IMPATIENT, '--', spec]).finally(() =>
    over.abort(),
  )
  await waiting
  if (result.timedOut) throw new SvcError('plugin.invalid', `npm did not finish within ${LIMITS.plugins.installTimeout / 1000} s`)
  if (result.exitCode !== 0) throw new SvcError('plugin.invalid', `npm could not fetch ${spec}: ${whyOf(result.stderr)}`)
  const archive = readdirSync(room).find((name) => name.endsWith('.tgz'))
  if (archive === undefined) throw new SvcError('plugin.invalid', `npm fetched nothing for ${spec}`)
  const resolved = resolvedBy(result.stdout)
  return { files: filesOfTarball(join(room, archive), undefined, spec), ...(resolved !== undefined && { resolved }) }
}

/** After so long, ms, it is said what is waited for. */
const SOON = 5000
/** Somebody waits: a registry that is not there is asked twice, and what says nothing is given up. */
const IMPATIENT = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000', '--fetch-timeout=30000']

/** Without what a registry may be asked with. */
function originOf(stdout: string): string {
  return new URL(stdout.trim()).origin
}

const SAID = 3

/** What npm says first, without what it says of itself. */
function whyOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (?:error|ERR!)(?: \d{3}| code)? ?/, '').trim())
  const told = lines.filter((line) => line !== '' && !/^(?:E\d+$|A complete log|Note that you can|tarball, folder)/.test(line))
  return npmWords(told.slice(0, SAID).join(' '))
}

/** `name@version integrity`, as npm tells it. */
function resolvedBy(stdout: string): string | undefined {
  try {
    const told: unknown = JSON.parse(stdout)
    const first: unknown = Array.isArray(told) ? told[0] : isRecord(told) ? Object.values(told)[0] : undefined
    if (!isRecord(first) || typeof first['name'] !== 'string' || typeof first['version'] !== 'string') return undefined
    const integrity = typeof first['integrity'] === 'string' ? ` ${first['integrity']}` : ''
    return `${first['name']}@${first['version']}${integrity}`
  } catch {
    return undefined
  }
}

/** By the rules of clones: file, http and https, no hook, filter, submodule or helper. The history does not come along. */
async function fetchGit(
  { url, ref, below }: Extract<SourceSpec, { type: 'git' }>,
  { effects, room, signal, tell }: Fetching,
): Promise<Fetched> {
  requireAddress(url)
  if (ref?.startsWith('-') === true) throw new SvcError('request.invalid', 'a ref does not begin with "-"')
  makeDirectoriesSync(effects.paths.state, 0o700)
  const target = join(room, 'repository')
  const source = { url, ref, depth: 1, parent: room, target, signal, onProgress: () => undefined }
  const cloner = createCloner(effects, { cloneFiles: LIMITS.plugins.packageEntries })
  tell(`git fetches ${url}`)
  await cloner.fetchNew(source)
  await cloner.checkOutNew(source)
  const repository = await repositoryAt(effects.files, realpathSync(target))
  const { commit } = repository === undefined ? { commit: undefined } : await readHead(effects.files, repository)
  rmSync(join(target, '.git'), { recursive: true, force: true })
  const root = realpathSync(target)
  try {
    const files = packageIn(await filesOfDirectory(effects, root), below)
    return { files, ...(commit !== undefined && { resolved: commit }) }
  } catch (error) {
    throw new SvcError(
      'plugin.invalid',
      `${url} cannot be taken: ${messageOf(error).replaceAll(root, '.').replace(/\.$/, '')}.`,
      {},
      { cause: error },
    )
  }
}
