/** A simulated world as a story has it: the host, the plugins beside it, the clients. */
import { createIds } from '../../../protocol/ids.js'
import { builtInPlugins } from '../../../server/built-ins.js'
import { VERSION } from '../../../server/version.js'
import { pathsIn } from '../../../simulation/effects.js'
import { createFakeProcesses } from '../../../simulation/processes.js'
import { namedStreams, type Random } from '../../../simulation/random.js'
import { configurer, within, workspaceFiles } from '../configure.js'
import { fits } from '../journal.js'
import { playPlugins } from '../played-plugin.js'
import type { PlayedPlugin, PlayPlugin } from '../played-plugin-types.js'
import { PLAYED_CONFIG } from '../steps.js'
import { callsOf, interactionsOf, sessionsOf, workflowsIn } from './clients.js'
import { instantOf, msOf, wallTime } from './duration.js'
import type { TakeTrace } from '../actor-types.js'
import { type HeardAcross, hearAcross } from './heard-across.js'
import { createHost, type Host, type HostOptions } from './host.js'
import { inspect } from './inspected.js'
import { createMachines, type Death, firstRemains, quietTurns, ROOT, turns } from './life.js'
import { type AnsweringModel, createAnsweringModel } from './model.js'
import { createMoments, type Moments } from './moments.js'
import type { PluginMoment, SimulatedClock, SimulatedWorld, SimulationFaults, SimulationOptions } from './simulate-types.js'

const START = '2026-01-05T12:00:00Z'
const DOWN = 1000

export interface World {
  readonly world: SimulatedWorld
  end(): Promise<void>
}

/** The host and what is beside it. */
interface Parts {
  readonly host: Host
  readonly heard: HeardAcross
  readonly answering: AnsweringModel
  readonly moments: Moments
  readonly play: PlayPlugin
  readonly files: Host['life']['disk']
  readonly random: (name: string) => Random
  readonly logs: readonly SimulatedWorld['logs'][]
  inspected(): ReturnType<TakeTrace>
}

const paths = pathsIn(ROOT)
const directory = paths.cwd

function createParts(options: SimulationOptions): Parts {
  const { seed = 1, at = START, zone = 'UTC', model = () => 'Done.', faults = {} } = options
  const streams = namedStreams(seed)
  const processes = createFakeProcesses()
  const answering = createAnsweringModel(model)
  const heard = hearAcross()
  const logs: SimulatedWorld['logs'][] = []
  const machines = createMachines()
  const settle = quietTurns()
  let inspected: TakeTrace | undefined
  const config = { ...PLAYED_CONFIG, ...options.config }
  const first = firstRemains(instantOf(at), { directory: machines.newDirectory(), config, has: ['home', 'cwd'] })
  const workflows = Object.entries(options.workflows ?? {}).map(([id, text]) => [`.svc/workflows/${id}.md`, text] as const)
  for (const [path, text] of [...Object.entries(options.files ?? {}), ...workflows]) first.disk.place(within(directory, path), text)

  const host = createHost({
    machines,
    first,
    random: streams,
    down: msOf(faults.hostDies?.down ?? DOWN),
    deaths: drawnDeaths(faults, streams('deaths')),
    begin: () => ({
      version: VERSION,
      processes,
      settle,
      async plugins(effects) {
        logs.push(effects.logs)
        return [answering.plugin(effects.clock), ...(await builtInPlugins(effects.env, () => zone))]
      },
    }),
    activity: () => heard.events.length + moments.moments.length + answering.requests.length + logs.length,
    async onLife(life) {
      if (options.inspect === true) inspected = inspect(life)
      heard.come(life.runtime, () => host.isUp && host.life === life)
    },
  })
  const moments = createMoments(deathAt(host, faults, streams('deaths')))
  const files = hostFiles(host)
  const configure = configurer(paths.config, files, async () => {
    const { runtime } = host.life
    await runtime.configs.load(directory, { fresh: true })
    await runtime.plugins.lifecycle(directory)
  })
  const play = playPlugins({
    effects: { processes, paths, files },
    runtime: {
      get plugins() {
        return host.life.runtime.plugins
      },
    },
    configure,
    settle: () => turns(),
    watch(id) {
      const number = host.lives
      return moments.watch(id, () => !host.isDead && host.lives === number)
    },
  })

  return {
    host,
    heard,
    answering,
    moments,
    play,
    files,
    random: streams,
    logs,
    inspected() {
      if (inspected === undefined) throw new Error('nothing is recorded; ask for it in the options, as in { inspect: true }')
      return inspected()
    },
  }
}

export async function createWorld(options: SimulationOptions): Promise<World> {
  const { host, heard, answering, moments, play, files, random, logs, inspected } = createParts(options)
  const { seed = 1, zone = 'UTC', plugins = [] } = options
  await host.start()
  const played = new Map<string, PlayedPlugin>()
  for (const { plugin, ...given } of plugins) {
    const each = await host.reach('a plugin is approved', () => play(plugin, given))
    played.set(each.id, drivenPlugin(each, host))
  }
  if (plugins.length > 0) {
    // A host that has always known them begins the story.
    await host.stop()
    await host.start()
  }
  const clientRandom = random('clients')
  const ids = createIds({ now: () => host.now, randomBytes: (size) => clientRandom.bytes(size) })
  const followed = workflowsIn(host, directory)
  // From now on workflow files of the workspace are followed, as after its first session.
  await followed.list()
  moments.begin()
  host.letDie()

  const world: SimulatedWorld = {
    seed,
    directory,
    clock: clockOf(host, zone),
    files: workspaceFiles(directory, files),
    sessions: sessionsOf(host, directory, ids),
    interactions: interactionsOf(host),
    workflows: followed,
    events: heard.events,
    until(match) {
      return host.until(`an event ${typeof match === 'function' ? 'that fits' : JSON.stringify(match)}`, () =>
        heard.events.find((event) => fits(match, event)),
      )
    },
    call: callsOf(host, directory),
    plugin(id) {
      const found = played.get(id)
      if (found === undefined) throw new Error(`no plugin "${id}" is simulated; there are ${[...played.keys()].join(', ') || 'none'}`)
      return found
    },
    moments: moments.moments,
    requests: answering.requests,
    get lives() {
      return host.lives
    },
    get isUp() {
      return host.isUp
    },
    async kill(how = 'kill') {
      host.die(how, false)
      await host.pass(0)
    },
    stop: () => host.stop(),
    start: () => host.start(),
    get logs() {
      return logs.flat().filter(({ level }) => level === 'warn' || level === 'error')
    },
    inspected,
    get trace() {
      return heard.digest()
    },
  }
  return { world, end: () => host.end() }
}

/** Exponentially distributed. */
function drawnDeaths({ hostDies }: SimulationFaults, random: Random): HostOptions['deaths'] {
  const every = hostDies?.every
  if (every === undefined) return undefined
  const mean = msOf(every)
  return { next: () => Math.ceil(-Math.log(1 - random.next()) * mean), how: () => howOf(hostDies, random) }
}

function howOf(hostDies: SimulationFaults['hostDies'], random: Random): Death {
  return hostDies?.how ?? (random.isOneIn(2) ? 'kill' : 'power')
}

/** Ends the host in the moment that is meant, once. */
function deathAt(host: Host, { hostDies }: SimulationFaults, random: Random): (moment: PluginMoment) => void {
  const at = hostDies?.at
  let isOver = at === undefined
  return (moment) => {
    if (isOver || !(typeof at === 'function' ? at(moment) : at === moment.number)) return
    isOver = true
    host.die(howOf(hostDies, random), true)
  }
}

/** Of whatever life there is. */
function hostFiles(host: Host): Host['life']['disk'] {
  return new Proxy({} as Host['life']['disk'], { get: (_, key) => Reflect.get(host.life.disk, key) as unknown })
}

/** Whatever takes time lets it pass. */
function drivenPlugin(plugin: PlayedPlugin, host: Host): PlayedPlugin {
  return {
    id: plugin.id,
    get notes() {
      return plugin.notes
    },
    get starts() {
      return plugin.starts
    },
    get running() {
      return plugin.running
    },
    hang: plugin.hang,
    resume: plugin.resume,
    crash: (exitCode) => host.reach('a plugin crashes', () => plugin.crash(exitCode)),
    update: (...given) => host.reach('a plugin is updated', () => plugin.update(...given)),
    approve: () => host.reach('a plugin is approved', () => plugin.approve()),
    info: () => host.reach('a plugin is read', () => plugin.info()),
  }
}

function clockOf(host: Host, zone: string): SimulatedClock {
  return {
    get now() {
      return host.now
    },
    advance(duration) {
      const ms = msOf(duration)
      if (ms < 0) throw new Error(`time passes forward: advance(${JSON.stringify(duration)}) is not possible`)
      return host.pass(ms)
    },
    advanceTo(instant) {
      const ms = instantOf(instant) - host.now
      if (ms < 0) throw new Error(`${new Date(instantOf(instant)).toISOString()} is past: it is ${new Date(host.now).toISOString()}`)
      return host.pass(ms)
    },
    stepWall: (duration) => host.stepWall(msOf(duration)),
    local: (instant, where = zone) => wallTime(instant === undefined ? host.now : instantOf(instant), where),
  }
}
