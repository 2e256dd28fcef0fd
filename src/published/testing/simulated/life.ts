/**
 * One life of the server on a played machine: from a start on what the one before left, to its end.
 *
 * I1 What a life leaves is taken in the moment in which it ends; the rest of it happens unheard.
 */
import { mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, type RunningRuntime, type RuntimeOptions } from '../../../actors/runtime/runtime.js'
import { once } from '../../../kernel/once.js'
import type { Runtime } from '../../../ports/facades.js'
import type { NativePlugin } from '../../../ports/plugin.js'
import { pluginPrograms } from '../../../server/plugin-programs.js'
import { createFakeClock, type FakeClock } from '../../../simulation/clock.js'
import { createDisk, type Disk } from '../../../simulation/disk.js'
import { type FakeEffects, pathsIn, playedEffects } from '../../../simulation/effects.js'
import { copyKilled, copyTorn, type LogExtent } from '../../../simulation/power.js'
import type { FakeProcesses } from '../../../simulation/processes.js'
import type { Random } from '../../../simulation/random.js'
import type { Store } from '../../../store/store.js'
import { LOG, openPlayedStore } from './played-store.js'

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

export type Death = 'kill' | 'power'

/** What a life leaves when it ends now, as a process does: `kill` leaves what was written, `power` what was synced; `torn` draws what of the rest. */
export type TakeRemains = (how: Death, torn: Random) => Remains

export interface Life {
  readonly runtime: Runtime
  readonly running: RunningRuntime
  readonly store: Store
  readonly clock: FakeClock
  readonly disk: Disk
  readonly effects: FakeEffects
  readonly remains: TakeRemains
  /** Ends it on its own clock, after `remains`, and forgets its files. */
  end(): Promise<void>
  /** Ends in order. */
  stop(): Promise<Remains>
}

export interface Beginning extends Pick<RuntimeOptions, 'version' | 'listen' | 'inspect' | 'inspectPayloads'> {
  readonly from: Remains
  readonly random: Random
  plugins(effects: FakeEffects): readonly NativePlugin[] | Promise<readonly NativePlugin[]>
  /** Called before anything starts: the life may end before it has begun. */
  readonly onMachine?: (remains: TakeRemains) => void
  /** Programs that outlive the server; without it a life has its own. */
  readonly processes?: FakeProcesses
  /** Around what the runtime gets, to break it. */
  readonly wrapStore?: (store: Store) => Store
  readonly wrapDisk?: (disk: Disk, clock: FakeClock) => Disk
  readonly wrapEffects?: (effects: FakeEffects) => FakeEffects
  readonly losesSyncs?: boolean
  /** Lets everything happen that needs no time; without it, `turns`. */
  readonly settle?: () => Promise<void>
}

export const ROOT = '/played'
/** Turns of the event loop in which everything happens that needs no time. */
const TURNS = 8
/** Longer than any start or stop takes, ms of the played clock. */
const PATIENCE = 20_000

const IN_MEMORY = '/dev/shm'
/** Bytes. */
const ROOM = 2 ** 30

export async function turns(count = TURNS): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** As `turns`, but no more of them than something is done in. For worlds in which all that happens is of svc: what waits for the machine itself is not seen. */
export async function busyTurns(most = TURNS): Promise<void> {
  for (let turn = 0; turn < most; turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (!process.getActiveResourcesInfo().includes('Immediate')) return
  }
}

/** As `turns`, but no more of them than something is waited for that this process did not wait for before. */
export function quietTurns(): () => Promise<void> {
  const waitedFor = () => process.getActiveResourcesInfo().toSorted().join()
  const before = waitedFor()
  return async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (waitedFor() === before) return
    }
  }
}

export interface Installed {
  /** Of its database. */
  readonly directory: string
  /** Configuration of the installation. */
  readonly config: Readonly<Record<string, unknown>>
  /** Places that have a directory `.svc`. */
  readonly has: readonly ('home' | 'cwd')[]
}

/** A machine that was never used. */
export function firstRemains(at: number, { directory, config, has }: Installed): Remains {
  const paths = pathsIn(ROOT)
  const followed = has.map((place) => join(paths[place], '.svc'))
  const disk = createDisk(() => at, [...Object.values<string>({ ...paths }), ...followed])
  disk.place(join(paths.config, 'config.json'), JSON.stringify(config))
  return { directory, disk, at }
}

export interface Machines {
  newDirectory(): string
  /** Removes what all lives have left. */
  forget(): void
}

/** Directories for databases, each below one of its own. */
export function createMachines(): Machines {
  const parents = new Set<string>()
  return {
    newDirectory() {
      clearLeft()
      const parent = realpathSync(mkdtempSync(join(placeOfMachines(), `${OWN}${process.pid}-`)))
      parents.add(parent)
      return join(parent, 'state')
    },
    forget() {
      for (const parent of parents) rmSync(parent, { recursive: true, force: true })
      parents.clear()
    },
  }
}

/** Of processes of this machine. */
const OWN = `svc-simulated-${hostname()}-`

/** Who is killed leaves its directories. */
const clearLeft = once(() => {
  const place = placeOfMachines()
  for (const name of readdirSync(place)) {
    const owner = name.startsWith(OWN) ? Number.parseInt(name.slice(OWN.length), 10) : Number.NaN
    if (owner > 0 && isGone(owner)) rmSync(join(place, name), { recursive: true, force: true })
  }
})

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** In memory, where there is room for it. */
function placeOfMachines(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    if (bavail * bsize > ROOM && process.env['TMPDIR'] === undefined) return IN_MEMORY
  } catch {
    // There is none.
  }
  return tmpdir()
}

export async function beginLife(machines: Machines, beginning: Beginning): Promise<Life> {
  const {
    from,
    random,
    processes,
    wrapStore,
    wrapDisk,
    wrapEffects = (same) => same,
    losesSyncs,
    plugins,
    onMachine,
    settle,
    ...given
  } = beginning
  const clock = createFakeClock(from.at, settle ?? turns)
  const disk = from.disk.copy(() => clock.now())
  const effects = wrapEffects(
    playedEffects(ROOT, {
      clock,
      files: wrapDisk?.(disk, clock) ?? disk,
      random,
      env: { SVC_AGENT_PLUGIN_SANDBOX: 'off' },
      childEnv: {},
      ...(processes !== undefined && { processes }),
    }),
  )
  const played = openPlayedStore({ directory: from.directory, clock, random, synced: from.synced, losesSyncs: losesSyncs ?? false })
  const { store } = played
  const remains: TakeRemains = (how, torn) => {
    const { synced } = played
    const directory = machines.newDirectory()
    if (how === 'kill') copyKilled(from.directory, directory)
    else copyTorn(from.directory, directory, LOG, synced, torn)
    return { directory, disk: disk.copy(() => clock.now()), at: clock.now(), ...(how === 'kill' && { synced }) }
  }
  onMachine?.(remains)
  const starting = createRuntime({
    ...given,
    effects,
    store: wrapStore?.(store) ?? store,
    plugins: await plugins(effects),
    programs: pluginPrograms(),
  })
  const running = await happens(clock, starting)
  let isOver = false
  void running.ended.then(() => (isOver = true))

  return {
    runtime: running.runtime,
    running,
    store: played.opened,
    clock,
    disk,
    effects,
    remains,
    async end() {
      if (!isOver) running.kill()
      await happens(clock, running.ended)
      rmSync(from.directory, { recursive: true, force: true })
    },
    async stop() {
      await happens(clock, running.stop())
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
