/** The host a native plugin is handed: narrowed effects and the services it may use (laws §7). */
import { SvcError } from '../../protocol/errors.js'
import type { Todo } from '../../protocol/session/session.js'
import { createProgramDoor } from './programs.js'
import type { ActorRegistry } from '../../kernel/roots.js'
import { createProtectedFiles } from '../../platform/protection/protected-files.js'
import { type Rows, sessionOrThrow, type Sources, type Work } from '../session/state/core.js'
import { setPlanMode } from '../session/state/plan-mode.js'
import type { Sessions } from '../../ports/facades.js'
import { createSessionArtifacts } from './session-artifacts.js'
import { createCheckouts } from '../../platform/git/origin.js'
import { createNamedPrograms } from '../../platform/git/named-programs.js'
import { HookedVariables } from '../plugin/calls/hook-values.js'
import type { CommandSandboxes } from '../../platform/confinement/confined-command.js'
import { sandboxOf } from '../resource/config/permission-config.js'
import { runHooks } from '../plugin/calls/hooks.js'
import type { FileStateDoor } from '../../ports/doors.js'
import { createMediaDoor } from './media.js'
import { createModelDoor } from './models.js'
import { createPluginRows } from './rows.js'
import { createSearchDoor } from './search.js'
import { createSessionDoor } from './sessions.js'
import { type Instructions, type ManagedOutputs, type NativeHost, type ToolContext, ToolError } from '../../ports/plugin.js'

export function createNativeHost(
  core: Rows & Work & Sources,
  pluginId: string,
  services: {
    outputs: ManagedOutputs
    instructions: Instructions
    sessions: Pick<Sessions, 'submitPrompt' | 'abort' | 'wait'>
    wake: (sessionId: string) => void
    stopping: AbortSignal
    offersChanged: () => void
    serverUrl: () => string | undefined
    actors: ActorRegistry
    sandbox: CommandSandboxes
    git: NativeHost['git']
    fileStates: FileStateDoor
  },
): NativeHost {
  const { effects, store } = core
  const { clock, ids, random, files, processes, terminals, fetch, post, network, childEnv, paths, platform, log, sha256 } = effects
  const rows = createPluginRows(core, pluginId)
  const sandbox = { ...services.sandbox, isOn: async (directory: string) => sandboxOf(await core.configs.load(directory)) === 'on' }
  return {
    effects: {
      clock,
      ids,
      random,
      files,
      processes,
      terminals,
      fetch,
      ...(post && { post }),
      network,
      childEnv,
      paths,
      platform,
      sha256,
      log: labelled(log, pluginId),
    },
    outputs: services.outputs,
    instructions: services.instructions,
    sandbox,
    programs: createProgramDoor({ effects, rows, sandbox }),
    fileStates: services.fileStates,
    rows,
    artifacts: createSessionArtifacts({ files, store, artifacts: core.artifacts, outputs: `${paths.state}/tool-output` }),
    actors: services.actors,
    sessions: createSessionDoor(core, pluginId, services.sessions, services.wake),
    search: createSearchDoor(core),
    models: createModelDoor(core),
    media: createMediaDoor(core),
    checkouts: createCheckouts({ files, paths }),
    git: services.git,
    namedPrograms: createNamedPrograms({ files, paths }),
    protectedFiles: createProtectedFiles({
      configDirectory: paths.config,
      stateDirectory: paths.state,
      cacheDirectory: paths.cache,
      home: paths.home,
      env: effects.env,
      files,
    }),
    config: (directory) => core.configs.load(directory),
    installationConfig: () => core.configs.load(paths.config),
    configEntries: core.configs,
    offersChanged: services.offersChanged,
    serverUrl: services.serverUrl,
    agents: (directory, sessionId) => core.resources.agents(directory, sessionId),
    hasAgent: (directory, name) =>
      core.resources.agent(directory, name).then(
        () => true,
        (error: unknown) => {
          if (error instanceof SvcError && error.code === 'resource.not_found') return false
          throw error
        },
      ),
    skills: (directory, sessionId) => core.resources.skills(directory, sessionId),
    switchedOff: (directory) => core.plugins.switchedOff(directory, pluginId),
    stopping: services.stopping,
    async shellEnvironment({ cwd, sessionId, callId, signal }) {
      const view = core.plugins.current(sessionOrThrow(core, sessionId).directory, sessionId)
      const none: Readonly<Record<string, string>> = {}
      return runHooks(view, 'shell.env', { cwd, sessionId, callId }, none, { signal, accept: (value) => HookedVariables.parse(value) })
    },
    todos: todosOf(core),
    planMode: { set: (sessionId, isOn) => setPlanMode(core, sessionId, isOn) },
    questions: questionsOf(core),
  }
}

function todosOf(core: Rows): NativeHost['todos'] {
  const { store, journal } = core
  return {
    replace(sessionId, todos: readonly Todo[]) {
      sessionOrThrow(core, sessionId)
      journal.commit('process', (tx) => {
        store.todos.put(sessionId, todos)
        tx.emit('todo.updated', { sessionID: sessionId, todos: [...todos] })
      })
    },
  }
}

function questionsOf(core: Rows & Work): NativeHost['questions'] {
  const { interactions, statuses } = core
  return {
    async ask(context: ToolContext, questions) {
      const session = sessionOrThrow(core, context.sessionId)
      const runId = statuses.run(session.id)?.runId ?? ''
      const { messageId, callId } = context
      const answer = await interactions.askQuestion({ session, runId, messageId, callId, questions }, context.signal)
      if ('rejected' in answer) throw new ToolError(answer.rejected)
      return answer.answers
    },
  }
}

function labelled(log: Rows['effects']['log'], pluginId: string): Rows['effects']['log'] {
  return {
    debug: (message, fields) => log.debug(message, { pluginId, ...fields }),
    info: (message, fields) => log.info(message, { pluginId, ...fields }),
    warn: (message, fields) => log.warn(message, { pluginId, ...fields }),
    error: (message, fields) => log.error(message, { pluginId, ...fields }),
  }
}
