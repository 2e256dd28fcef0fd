/** One life of the server in a simulated world: from a start on what the one before left, to its end. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, type RunningRuntime } from '../../src/actors/runtime/runtime.js'
import { interactionsPlugin } from '../../src/plugins/interactions/interactions.plugin.js'
import { subagentsPlugin } from '../../src/plugins/subagents/subagents.plugin.js'
import { workflowsPlugin } from '../../src/plugins/workflows/workflows.plugin.js'
import type { Runtime } from '../../src/ports/facades.js'
import type { NativePlugin } from '../../src/ports/plugin.js'
import { pluginPrograms } from '../../src/server/plugin-programs.js'
import { PLAYED_CONFIG } from '../../src/published/testing/steps.js'
import { createFakeClock, type FakeClock } from '../../src/simulation/clock.js'
import { createDisk, type Disk } from '../../src/simulation/disk.js'
import { type FakeEffects, pathsIn, playedEffects } from '../../src/simulation/effects.js'
import { copyKilled, copyTorn, extentOf, type LogExtent, NO_LOG } from '../../src/simulation/power.js'
import type { Random } from '../../src/simulation/random.js'
import { type Faults, faultyStore } from './faults.js'
import { Database } from '../../src/store/disk/driver.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'

/** What is broken on purpose, to see whether it is found. */
export interface Defect {
  readonly store?: (store: Store) => Store
  readonly runtime?: (runtime: Runtime) => Runtime
  /** Of each plugin. */
  readonly plugin?: (plugin: NativePlugin) => NativePlugin
  /** Syncs are told and not done. */
  readonly losesSyncs?: true
}

/** What a life leaves to the next. */
export interface Remains {
  /** State directory on a real disk: the database is the real one. */
  readonly directory: string
  readonly disk: Disk
  /** What of the log survives power loss; undefined = all of it. */
  readonly synced?: LogExtent
  /** Wall clock, Unix ms. */
  readonly at: number
}

export interface Life {
  readonly runtime: Runtime
  readonly store: Store
  readonly clock: FakeClock
  readonly effects: FakeEffects
  /** Ends as a process does: `kill` leaves what was written, `power` what was synced. The rest of this life happens unheard. */
  die(how: 'kill' | 'power', random: Random): Promise<Remains>
  /** Ends in order. */
  stop(): Promise<Remains>
}

export interface Beginning {
  readonly from: Remains
  readonly random: Random
  readonly plugin: NativePlugin
  /** Resolves when whoever has called is answered: as the door does, a stop in order waits for that. */
  answersSent(): Promise<void>
  readonly defect: Defect
  readonly faults: Faults
}

const ROOT = '/played'
const WORKFLOWS = { places: { configDirectory: undefined, withoutProjects: false }, version: '0.0.0', localZone: () => 'UTC' }
const LOG = 'agent.sqlite3-wal'
/** Turns of the event loop in which everything happens that needs no time. */
const TURNS = 8
/** Longer than any start or stop takes, ms of the played clock. */
const PATIENCE = 20_000
/** ms that a sync takes; one in so many takes long. */
const SYNC = { least: 1, most: 8, long: 300, isLongOneIn: 40 }

export async function turns(count = TURNS): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

const parents = new Set<string>()

export const CONFIG_FILE = join(pathsIn(ROOT).config, 'config.json')

/** What the operator says: of the tool `guarded`, and which built-in plugins are off. */
export interface Said {
  readonly guarded: 'allow' | 'ask' | 'deny'
  readonly off: readonly string[]
}

export function configOf({ guarded, off }: Said): string {
  const permission = { '*': 'allow', guarded, forbidden: 'deny' }
  return JSON.stringify({ ...PLAYED_CONFIG, permission, plugins: Object.fromEntries(off.map((id) => [id, false])) })
}

export function firstRemains(at: number): Remains {
  const disk = createDisk(() => at, Object.values(pathsIn(ROOT)))
  disk.place(CONFIG_FILE, configOf({ guarded: 'ask', off: [] }))
  disk.place(join(pathsIn(ROOT).home, '.svc', 'kept'), '')
  return { directory: newDirectory(), disk, at }
}

function newDirectory(): string {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'svc-simulated-')))
  parents.add(parent)
  return join(parent, 'state')
}

/** Removes what all lives have left. */
export function forgetRemains(): void {
  for (const parent of parents) rmSync(parent, { recursive: true, force: true })
  parents.clear()
}

export async function beginLife({ from, random, plugin, answersSent, defect, faults }: Beginning): Promise<Life> {
  const clock = createFakeClock(from.at, turns)
  const disk = from.disk.copy(() => clock.now())
  const effects = playedEffects(ROOT, {
    clock,
    files: disk,
    random,
    env: { SVC_AGENT_PLUGIN_SANDBOX: 'off' },
    childEnv: {},
  })
  mkdirSync(from.directory, { recursive: true })
  const log = join(from.directory, LOG)
  let synced: LogExtent = NO_LOG
  let isBeside = false
  const note = () => {
    if (existsSync(log)) synced = extentOf(log, synced)
  }

  async function sync(): Promise<void> {
    isBeside = true
    const before = synced
    const reached = extentOf(log, synced)
    const ms = random.isOneIn(SYNC.isLongOneIn) ? SYNC.long : SYNC.least + random.below(SYNC.most)
    await new Promise<void>((resolve) => clock.setTimeout(resolve, ms))
    const isNewer = synced === before || (reached.salt === synced.salt && reached.bytes > synced.bytes)
    if (isNewer && defect.losesSyncs === undefined) synced = reached
  }

  const opened = openStore({
    directory: from.directory,
    now: () => clock.now(),
    beside: {
      sync,
      checkpoints(path) {
        const database = new Database(path, { timeout: 0 })
        database.exec('pragma synchronous = full; pragma wal_autocheckpoint = 0')
        return {
          async checkpoint() {
            database.pragma('wal_checkpoint(passive)')
            note()
          },
          close: () => void database.close(),
        }
      },
    },
  })
  if (from.synced === undefined) note()
  else synced = from.synced
  const noting =
    <Args extends readonly unknown[], T>(work: (...args: Args) => T) =>
    (...args: Args): T => {
      const done = work(...args)
      note()
      return done
    }
  let depth = 0
  const store: Store = {
    ...opened,
    transact(durability, change) {
      depth++
      try {
        return opened.transact(durability, change)
      } finally {
        depth--
        if (durability === 'power' && depth === 0) note()
      }
    },
    // Synced by SQLite.
    reserveSequences: noting(opened.reserveSequences),
    checkpoint: noting(opened.checkpoint),
    sync() {
      isBeside = false
      const done = opened.sync()
      if (!isBeside && defect.losesSyncs === undefined) note()
      return done
    },
  }

  const starting = createRuntime({
    effects,
    store: defect.store?.(faultyStore(store, faults)) ?? faultyStore(store, faults),
    plugins: [plugin, interactionsPlugin(), subagentsPlugin(), workflowsPlugin(WORKFLOWS)].map((each) => defect.plugin?.(each) ?? each),
    version: '0.0.0',
    programs: pluginPrograms(),
    listen: async () => ({ close: answersSent }),
  })
  const running: RunningRuntime = await happens(clock, starting)

  async function end(how: 'stop' | 'kill'): Promise<void> {
    if (how === 'kill') running.kill()
    await happens(clock, how === 'stop' ? running.stop() : running.ended)
  }

  return {
    runtime: defect.runtime?.(running.runtime) ?? running.runtime,
    store: opened,
    clock,
    effects,
    async die(how, torn) {
      const remains = { directory: newDirectory(), disk: disk.copy(() => clock.now()), at: clock.now(), ...(how === 'kill' && { synced }) }
      if (how === 'kill') copyKilled(from.directory, remains.directory)
      else copyTorn(from.directory, remains.directory, LOG, synced, torn)
      await end('kill')
      rmSync(from.directory, { recursive: true, force: true })
      return remains
    },
    async stop() {
      await end('stop')
      return { directory: from.directory, disk, at: clock.now() }
    },
  }
}

/** Lets time pass until something has happened; throws when it does not. */
async function happens<T>(clock: FakeClock, event: Promise<T>): Promise<T> {
  let isOver = false
  const over = () => (isOver = true)
  event.then(over, over)
  for (let passed = 0; !isOver; passed += 5) {
    if (passed > PATIENCE) throw new Error('the server does not start or stop')
    await clock.advanceAsync(5)
  }
  return event
}
