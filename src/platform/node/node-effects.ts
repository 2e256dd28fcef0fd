/** The one real implementation of `Effects`; its parts are beside it. */
import { createWayOut } from './network/way-out.js'
import { boundYoungGeneration, collectGarbage } from './heap.js'
import { createHash, hash, randomBytes, randomFillSync } from 'node:crypto'
import { uptime, userInfo } from 'node:os'
import { createIds } from '../../protocol/ids.js'
import type { Clock, Effects, GuardedFetch } from '../../ports/effects.js'
import { childEnvironment, type Environment, readEnvironment } from './environment.js'
import { createFamilies } from './process/program-families.js'
import { createNodeFiles } from './files/node-files.js'
import { createNodeLog, type LogLevel, parseLogLevel, type WriteLine } from './log.js'
import { createNodeProcesses } from './process/processes.js'
import { nodePaths } from './paths.js'
import { createReaper } from './process/reaper.js'
import { createNodeTerminals } from './pty/node-terminals.js'

export interface NodeEffectsOptions {
  /** Instead of `process.env`; needed when that has been scrubbed already. */
  readonly env?: Environment
  /** Instead of `SVC_LOG`. */
  readonly logLevel?: LogLevel
  /** Gets whole log lines instead of standard error. */
  readonly logWrite?: WriteLine
}

/** Makes the effects of this process. Cheap: the packages behind `processes` and `terminals` are loaded by their first use. */
export function createNodeEffects(options: NodeEffectsOptions = {}): Effects {
  const env = readEnvironment(options.env)
  const childEnv = childEnvironment(env)
  const clock = createNodeClock()
  const searchPath = childEnv['PATH'] ?? ''
  const reaper = createReaper()
  const pooled = createRandomPool()
  const log = createNodeLog({
    level: options.logLevel ?? parseLogLevel(env['SVC_LOG']),
    now: () => clock.now(),
    write: options.logWrite ?? ((line) => process.stderr.write(line)),
  })
  const wayOut = createWayOut({ env, log, now: () => clock.monotonic() })
  let guarded: Promise<GuardedFetch> | undefined
  const families = createFamilies(reaper.mark, {
    onLeft: ({ pid, command }) => log.warn('a process outlives its owner, out of reach of this server', { pid, command }),
  })
  return {
    clock,
    ids: createIds({ now: () => clock.now(), randomBytes: pooled }),
    random: { bytes: (size) => new Uint8Array(size > POOLED ? randomBytes(size) : pooled(size)) },
    files: createNodeFiles(),
    processes: createNodeProcesses(searchPath, reaper, families),
    terminals: createNodeTerminals(searchPath, reaper, { families }),
    memory: { bound: boundYoungGeneration, collect: collectGarbage },
    fetch: wayOut.fetch,
    post: wayOut.post,
    network: {
      guardedFetch: async (address, request) => {
        guarded ??= import('./network/guarded-fetch.js').then(({ createGuardedFetch }) => createGuardedFetch(wayOut))
        return (await guarded)(address, request)
      },
      openSocket: async (wanted) => (await import('./network/socket.js')).openSocket(wanted),
      listenForRedirect: async (...wanted) => (await import('./network/redirect-listener.js')).listenForRedirect(...wanted),
      counts: wayOut.counts,
    },
    env,
    childEnv,
    paths: nodePaths(env),
    platform: { os: process.platform, arch: process.arch, user: userName(env) },
    log,
    sha256: (data) => hash('sha256', data, 'hex'),
    hasher: sha256Hasher,
  }
}

/** See `Effects.hasher`. */
function sha256Hasher(): ReturnType<Effects['hasher']> {
  const hasher = createHash('sha256')
  return { update: (data) => void hasher.update(data), digest: () => hasher.digest('hex') }
}

/** Wall and monotonic time; delays beyond the 24.8 days a platform timer holds are waited for in hops. */
export function createNodeClock(): Clock {
  const HOP = 24 * 60 * 60 * 1000
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    elapsed: () => uptime() * 1000,
    setTimeout(run, ms) {
      const handle: { timer?: NodeJS.Timeout } = {}
      const arm = (left: number) => {
        handle.timer = left <= HOP ? setTimeout(run, left) : setTimeout(() => arm(left - HOP), HOP)
      }
      arm(ms)
      return handle
    },
    clearTimeout(handle) {
      if (isTimerHandle(handle)) clearTimeout(handle.timer)
    },
  }
}

function isTimerHandle(handle: unknown): handle is { readonly timer: NodeJS.Timeout } {
  return typeof handle === 'object' && handle !== null && 'timer' in handle
}

/** Asked for in one piece, random bytes cost ten times as much as those of the pool. */
const POOLED = 64

/** Random bytes for ids, fetched 4 KiB at a time; each view is valid until the next call. */
function createRandomPool(): (size: number) => Uint8Array {
  const pool = Buffer.allocUnsafeSlow(4096)
  let used = pool.length
  return (size) => {
    if (used + size > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += size
    return pool.subarray(used - size, used)
  }
}

function userName(env: Environment): string {
  try {
    return userInfo().username
  } catch {
    return env['USER'] ?? 'unknown' // a user id without an entry in the user table
  }
}
