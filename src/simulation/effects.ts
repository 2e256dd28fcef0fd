/** Effects that nothing outside moves: the second implementation of `ports/effects`, of a world that is played. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Effects, Files, Log, Paths } from '../ports/effects.js'
import { createIds } from '../protocol/ids.js'
import { createFakeClock, type FakeClock } from './clock.js'
import { createFakeProcesses, type FakeProcesses } from './processes.js'
import { createRandom } from './random.js'
import { createFakeTerminals, type FakeTerminals } from './terminals.js'

interface LogRecord {
  readonly level: keyof Log
  readonly message: string
  readonly fields: Record<string, unknown>
}

export interface FakeEffects extends Effects {
  readonly clock: FakeClock
  readonly processes: FakeProcesses
  readonly terminals: FakeTerminals
  /** Everything logged so far. */
  readonly logs: readonly LogRecord[]
  /** The directory that all paths lie in; `paths.cwd` is `root/work`. */
  readonly root: string
}

export type FakeOverrides = Partial<Omit<Effects, 'clock' | 'processes' | 'terminals'>> & {
  readonly clock?: FakeClock
  readonly processes?: FakeProcesses
  readonly terminals?: FakeTerminals
}

/**
 * A clock that stands still (`clock.advance`), ids and randomness that repeat from run to run, processes played by `processes.script` and
 * `processes.pipe`, logs kept in `logs`, and no network unless `fetch` is given. Any member can be overridden.
 */
export function playedEffects(root: string, overrides: FakeOverrides & { readonly files: Files }): FakeEffects {
  const clock = overrides.clock ?? createFakeClock()
  const random = overrides.random ?? createRandom(1)
  const logs: LogRecord[] = []
  return {
    ids: createIds({ now: () => clock.now(), randomBytes: (size) => random.bytes(size) }),
    fetch: async (input) => {
      throw new Error(`unexpected fetch of ${String(input instanceof Request ? input.url : input)}`)
    },
    network: {
      guardedFetch: async (address) => {
        throw new Error(`unexpected fetch of ${address}`)
      },
      openSocket: async ({ host, port }) => {
        throw new Error(`unexpected connection to ${host}:${port}`)
      },
      listenForRedirect: async (port) => {
        throw new Error(`unexpected listener at port ${port}`)
      },
      counts: () => ({ started: 0, ended: 0, failed: 0, open: 0, bytes: 0 }),
    },
    memory: { bound: () => undefined, collect: () => undefined },
    env: Object.freeze({}),
    childEnv: Object.freeze({ PATH: '/usr/bin:/bin', HOME: join(root, 'home') }),
    paths: pathsIn(root),
    platform: { os: 'linux', arch: 'x64', user: 'tester' },
    log: createFakeLog(logs),
    sha256: (data) => createHash('sha256').update(data).digest('hex'),
    hasher: () => {
      const hasher = createHash('sha256')
      return { update: (data) => void hasher.update(data), digest: () => hasher.digest('hex') }
    },
    ...overrides,
    clock,
    random,
    processes: overrides.processes ?? createFakeProcesses(),
    terminals: overrides.terminals ?? createFakeTerminals(),
    logs,
    root,
  }
}

export function pathsIn(root: string): Paths {
  return {
    home: join(root, 'home'),
    temp: join(root, 'temp'),
    config: join(root, 'config'),
    state: join(root, 'state'),
    cache: join(root, 'cache'),
    cwd: join(root, 'work'),
  }
}

function createFakeLog(logs: LogRecord[]): Log {
  const at =
    (level: keyof Log) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      logs.push({ level, message, fields })
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
