/**
 * Packages of the npm registry that configuration entries run, installed on request (plugin-protocol §9.3).
 *
 * I1 Nothing is fetched unless an entry asks for a package that is not there; nobody waits for an installation.
 * I2 One installation per spec, one at a time in all, each bounded by `installTimeout`; after a failure the next attempt
 *    is made when the package is asked for again, `installRetry` later at the earliest.
 * I3 A slot appears whole: npm works in a directory beside it, which is then renamed.
 * I4 No script of a package runs during installation.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { join } from 'node:path'
import { createActor, fromPromise } from 'xstate'
import { type InstallationInput, installationMachine } from '../../../machines/plugin/installation.machine.js'
import { createLane } from '../../../kernel/lane.js'
import { type Supervised, supervise } from '../../../kernel/supervise.js'
import { toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { findScript, type Script } from './script-file.js'

type NpmPackage = (Script & { readonly slot: string }) | { readonly unavailable: string }

export interface NpmCache {
  /** The script of an installed package; otherwise starts its installation and says so. Never rejects. */
  resolve(spec: string): Promise<NpmPackage>
  /** Whether a package can be run now. Starts nothing. */
  isInstalled(spec: string): Promise<boolean>
  /** Ends installations under way; nothing is started afterwards. Resolves when npm is gone. */
  stop(): Promise<void>
}

export interface NpmCacheDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'processes' | 'paths' | 'childEnv' | 'env' | 'ids' | 'sha256' | 'log'>
  /** The package can be run now: the workspaces that ask for it should be rebuilt. Must not throw. */
  onInstalled(spec: string): void
  /** The reason to show for a plugin that waits. Must not throw. */
  onFailed?(spec: string, reason: string): void
}

/** One for the whole server. */
export function createNpmCache({ effects, onInstalled, onFailed }: NpmCacheDeps): NpmCache {
  const { files, log, paths } = effects
  const root = join(paths.cache, 'plugin-cache')
  const lane = createLane({ most: LIMITS.plugins.copiesWaiting }) // I2

  const installed = async (spec: NpmSpec) => {
    const slot = join(root, slotName(spec, effects.sha256))
    const script = await findScript(files, join(slot, 'node_modules', spec.name), paths.home)
    return script === undefined ? undefined : { ...script, slot }
  }

  /** Rejects with the reason to show. */
  const attempt = async (text: string, signal: AbortSignal) => {
    const spec = parseNpmSpec(text)
    if (spec === undefined) return
    log.info('an npm package is being installed', { spec: text })
    try {
      await sweep(effects, root)
      await install(effects, { spec, slot: join(root, slotName(spec, effects.sha256)), signal })
      if ((await installed(spec)) === undefined) throw new Error('the package has no file to run (main, index.mjs or index.js)')
    } catch (error) {
      const reason = `npm package ${text} could not be installed: ${toFailure(error).message}`
      log.warn('an npm package could not be installed', { spec: text, reason })
      throw new Error(reason, { cause: error })
    }
  }

  const logic = chartOf(installationMachine).provide({
    actors: {
      install: fromPromise<void, InstallationInput>(({ input: { spec }, signal }) => lane.run(() => attempt(spec, signal), signal)),
    },
  })
  const installations = supervise<typeof installationMachine>({
    effects,
    kind: 'installation',
    onEnded(spec, ref) {
      if (ref.getSnapshot().hasTag('installed')) onInstalled(spec)
    },
  })

  function begin(spec: string): void {
    installations.start(spec, (options) => {
      forgetOne(installations)
      const ref = createActor(logic, { id: `installation:${spec}`, input: { spec }, ...options })
      ref.on('failed', ({ reason }) => onFailed?.(spec, reason))
      return ref
    })
  }

  return {
    async resolve(text) {
      const spec = parseNpmSpec(text)
      if (spec === undefined)
        return { unavailable: `"${text.slice(0, 200)}" is not an npm package: write name, name@version or @scope/name@version` }
      const found = await installed(spec)
      if (found !== undefined) return found
      if (!installations.send(text, { type: 'asked' })) begin(text)
      const now = installations.get(text)?.getSnapshot()
      return { unavailable: now?.hasTag('failed') === true ? now.context.reason : `installing npm package ${text}` }
    },
    async isInstalled(text) {
      const spec = parseNpmSpec(text)
      return spec !== undefined && (await installed(spec)) !== undefined
    },
    async stop() {
      await installations.drain((ref) => ref.send({ type: 'stop.requested' }))
      await lane.run(() => Promise.resolve())
    },
  }
}

const REMEMBERED = 1024

/** What failed longest ago makes room. */
function forgetOne(installations: Supervised<typeof installationMachine>): void {
  if (installations.size < REMEMBERED) return
  for (const spec of installations.keys()) {
    const now = installations.get(spec)?.getSnapshot()
    if (now?.hasTag('failed') === true || now?.hasTag('due') === true) return void installations.send(spec, { type: 'stop.requested' })
  }
}

export interface NpmSpec {
  readonly text: string
  /** Without the version. */
  readonly name: string
}

const NAME = '[a-z0-9~][a-z0-9._~-]*'
const SPEC = new RegExp(`^((?:@${NAME}/)?${NAME})(?:@[\\w.^~<>=*+-]+)?$`)
const LONGEST_SPEC = 400

/** A package of the registry by name, with or without a version; undefined for addresses, paths, options and everything else. */
export function parseNpmSpec(text: string): NpmSpec | undefined {
  const name = text.length > LONGEST_SPEC ? undefined : SPEC.exec(text)?.[1]
  return name === undefined ? undefined : { text, name }
}

/** Two specs never share a slot: what the plain form cannot tell apart gets a digest. */
function slotName({ text }: NpmSpec, sha256: Effects['sha256']): string {
  const plain = text.replaceAll(/[^A-Za-z0-9._-]/g, '_')
  return /^[a-z0-9.@/-]+$/.test(text) ? plain : `${plain}-${sha256(text).slice(0, 12)}`
}

interface Installation {
  readonly spec: NpmSpec
  readonly slot: string
  readonly signal: AbortSignal
}

/** No script runs (I4), and nothing is said but errors. */
export const NPM_OPTIONS = ['--no-update-notifier', '--ignore-scripts', '--no-progress', '--loglevel=error']
const OPTIONS = ['--no-audit', '--no-fund', '--omit=dev', ...NPM_OPTIONS]
const STAGING = '.installing-'
const OUTPUT = 16 * 1024

async function install(effects: NpmCacheDeps['effects'], { spec, slot, signal }: Installation): Promise<void> {
  const { files, ids, processes } = effects
  signal.throwIfAborted()
  const npm = await processes.find('npm')
  if (npm === undefined) throw new Error('the program "npm" was not found on the search path')
  const staged = `${slot}${STAGING}${ids.next('ent')}`
  try {
    await files.makeDirectory(staged, { mode: 0o700 })
    const result = await processes.run({
      command: npm,
      args: ['install', '--prefix', staged, ...OPTIONS, '--', spec.text],
      cwd: staged,
      env: npmEnvironment(effects),
      signal,
      timeoutMs: LIMITS.plugins.installTimeout,
      captureBytes: OUTPUT,
    })
    if (result.timedOut) throw new Error(`npm did not finish within ${LIMITS.plugins.installTimeout / 1000} s`)
    if (result.aborted) throw new Error('the server is stopping')
    if (result.exitCode !== 0) throw new Error(`npm ended with ${result.exitCode ?? result.signal}: ${npmWords(result.stderr)}`)
    await files.removeTree(slot)
    await files.rename(staged, slot) // I3
  } finally {
    await files.removeTree(staged).catch(() => undefined)
  }
}

const SETTINGS = /^npm_config_(?:registry|cache|userconfig|globalconfig|cafile|offline|prefer_offline|proxy|https_proxy|noproxy)$/i

/** What children get, and where npm finds its registry; a setting that carries a login stays here (threat-model K1). */
export function npmEnvironment({ childEnv, env }: Pick<Effects, 'childEnv' | 'env'>): Record<string, string> {
  const settings = Object.entries(env).filter(
    (entry): entry is [string, string] => SETTINGS.test(entry[0]) && entry[1] !== undefined && !/:\/\/[^/\s]*@/.test(entry[1]),
  )
  return { ...childEnv, ...Object.fromEntries(settings), npm_config_update_notifier: 'false' }
}

/** Staging directories of servers that died. */
async function sweep({ clock, files }: Pick<Effects, 'clock' | 'files'>, root: string): Promise<void> {
  const entries = await files.readDirectory(root).catch(() => [])
  for (const { name } of entries.filter((entry) => entry.name.includes(STAGING))) {
    const stat = await files.stat(join(root, name)).catch(() => undefined)
    if (stat !== undefined && clock.now() - stat.modifiedMs > 2 * LIMITS.plugins.installTimeout) await files.removeTree(join(root, name))
  }
}

/** The end of what npm said, on one line, without addresses that may carry a login. */
export function npmWords(text: string): string {
  const line = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/:\/\/[^/\s]*@/g, '://***@')
    .trim()
  return line === '' ? 'it said nothing' : line.slice(-400)
}
