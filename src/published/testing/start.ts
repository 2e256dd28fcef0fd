/**
 * A runtime in memory, with every built-in plugin, under the hands of a test.
 *
 * I1 Nothing outside of the test moves it: its clock stands still, its model, tools and programs are played, watchers hear of
 *    writes from the files themselves, and there is no network.
 * I2 However it ends, nothing of it stays: timers, waits, files.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createNodeFiles } from '../../platform/node/files/node-files.js'
import { builtInPlugins } from '../../server/built-ins.js'
import { pluginPrograms } from '../../server/plugin-programs.js'
import { VERSION } from '../../server/version.js'
import { watchActors } from './actors.js'
import { configurer, within, workspaceFiles } from './configure.js'
import { instantOf } from './simulated/duration.js'
import { begin } from './begin.js'
import { createFakeClock } from '../../simulation/clock.js'
import { createFakeEffects } from './world/effects.js'
import { type KnownFiles, knowFiles } from './world/files.js'
import { createTestJournal } from './journal.js'
import { playModel } from './model.js'
import { playPlugins } from './played-plugin.js'
import type { StartTestRuntime, TestClock, TestRuntime } from './runtime-types.js'
import { callerOf, workflowsOf } from './operations.js'
import { createTestInteractions, createTestSessions } from './sessions.js'
import { playedPlugin } from './steps.js'
import { playTools } from './tools.js'
import { createWaits } from './waits.js'

export const startRuntime: StartTestRuntime = async (options = {}) => {
  const { at = '2026-01-05T12:00:00Z', zone = 'UTC', tools = [], waitMs = 5000 } = options
  const files = knowFiles(createNodeFiles())
  const fake = createFakeClock(instantOf(at), () => files.settle())
  // What is played here needs no sandbox, and there is none.
  const effects = createFakeEffects({ clock: fake, files, env: { SVC_AGENT_PLUGIN_SANDBOX: 'off' } })
  const directory = effects.paths.cwd
  try {
    for (const [path, text] of Object.entries(options.files ?? {})) writeNow(within(directory, path), text)
    const waits = createWaits(waitMs, () =>
      fake.nextTimer === undefined ? '' : `The clock stands still; its next timer is due in ${fake.nextTimer} ms.`,
    )
    const played = playModel()
    const playedTools = playTools(tools, waits)
    const plugin = playedPlugin({ next: (request) => played.next(request), tools: () => playedTools.contributions })
    const begun = await begin({
      effects,
      plugins: [plugin, ...(await builtInPlugins(effects.env, () => zone))],
      config: options.config,
      programs: pluginPrograms(),
      version: VERSION,
    })
    const { runtime } = begun.running
    const watched = watchActors(begun.running, effects, waits, VERSION)
    const configure = configurer(effects.paths.config, files, async () => {
      await runtime.configs.load(directory, { fresh: true })
      await runtime.plugins.lifecycle(directory)
    })
    const call = callerOf(runtime, directory)

    let stopped: Promise<void> | undefined
    async function stop(): Promise<void> {
      waits.endAll()
      try {
        await begun.stop()
      } finally {
        watched.stop()
        rmSync(effects.root, { recursive: true, force: true })
      }
    }

    const svc: TestRuntime = {
      directory,
      clock: clockOf(fake, files),
      files: workspaceFiles(directory, files),
      programs: {
        answer: (play) => effects.processes.script(play),
        get runs() {
          return effects.processes.calls
        },
      },
      model: played.model,
      sessions: createTestSessions({ runtime, directory, played, waits }),
      interactions: createTestInteractions(runtime),
      workflows: workflowsOf(call),
      journal: createTestJournal(begun.heard, waits),
      actors: watched.actors,
      state: watched.state,
      send: watched.send,
      trace: watched.trace,
      playPlugin: playPlugins({ effects, runtime, configure, settle: () => files.settle() }),
      get logs() {
        return effects.logs.filter(({ level }) => level === 'warn' || level === 'error')
      },
      tool: (id) => playedTools.tool(id),
      configure,
      call,
      stop: () => (stopped ??= stop()),
      [Symbol.asyncDispose]: () => svc.stop(),
    }
    // From now on workflow files of the workspace are followed, as after its first session.
    await svc.workflows.list()
    await fake.advanceAsync(0)
    return svc
  } catch (error) {
    rmSync(effects.root, { recursive: true, force: true })
    throw error
  }
}

function clockOf(fake: ReturnType<typeof createFakeClock>, files: KnownFiles): TestClock {
  return {
    get now() {
      return fake.now()
    },
    advance(ms) {
      if (!(ms >= 0)) throw new Error(`time passes forward: advance(${ms}) is not possible`)
      return fake.advanceAsync(ms)
    },
    advanceTo(instant) {
      const ms = instantOf(instant) - fake.now()
      if (ms < 0) throw new Error(`${new Date(instantOf(instant)).toISOString()} is past: it is ${new Date(fake.now()).toISOString()}`)
      return fake.advanceAsync(ms)
    },
    stepWall: (ms) => fake.stepWall(ms),
    settle: () => files.settle(),
  }
}

function writeNow(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
