import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Effects, Log, Paths } from '../../../ports/effects.js'
import { createNodeFiles } from '../../../platform/node/files/node-files.js'
import { createIds } from '../../../protocol/ids.js'
import { createFakeClock, type FakeClock } from './clock.js'
import { createFakeProcesses, type FakeProcesses } from './processes.js'
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
  /** Canonical path of this fake's own temporary directory, which whoever made it removes. `paths.cwd` is `root/work`. */
  readonly root: string
}

export type FakeOverrides = Partial<Omit<Effects, 'clock' | 'processes' | 'terminals'>> & {
  readonly clock?: FakeClock
  readonly processes?: FakeProcesses
  readonly terminals?: FakeTerminals
}

/**
 * Effects for tests: a clock that stands still (`clock.advance`), ids and randomness that repeat from run to run, real
 * files below a temporary `root`, processes played by `processes.script` and `processes.pipe`, logs kept in `logs`, and no network unless
 * `fetch` is given. Any member can be overridden.
 */
export function createFakeEffects(overrides: FakeOverrides = {}): FakeEffects {
  const root = makeRoot()
  const clock = overrides.clock ?? createFakeClock()
  const random = overrides.random ?? createFakeRandom()
  const logs: LogRecord[] = []
  return {
    ids: createIds({ now: () => clock.now(), randomBytes: (size) => random.bytes(size) }),
    // The clock stands still within a turn, so nothing in it takes long.
    files: createNodeFiles(() => undefined),
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
    paths: makePaths(root),
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

function makeRoot(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'svc-test-')))
}

function makePaths(root: string): Paths {
  const paths = {
    home: join(root, 'home'),
    temp: join(root, 'temp'),
    config: join(root, 'config'),
    state: join(root, 'state'),
    cache: join(root, 'cache'),
    cwd: join(root, 'work'),
  }
  for (const path of Object.values(paths)) mkdirSync(path)
  return paths
}

/** The same bytes in the same order in every run (mulberry32). */
function createFakeRandom(seed = 1): Effects['random'] {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) & 0xff
  }
  return { bytes: (size) => Uint8Array.from({ length: size }, next) }
}

function createFakeLog(logs: LogRecord[]): Log {
  const at =
    (level: keyof Log) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      logs.push({ level, message, fields })
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
