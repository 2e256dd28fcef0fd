/**
 * A hook command as a plugin instance (`svc-plugin/1`, plugin-protocol §9.5): what its manifest adds without running
 * anything, then one process per call.
 *
 * I1 At most `legacyProcesses` run at a time and `pendingCalls` wait; the next call is refused. Time spent waiting is not
 *    the program's.
 * I2 Events are delivered one after another in their own lane: `eventQueue` wait, the oldest gives way and is counted, and
 *    a failure concerns that event alone (plugin-protocol §13-15).
 * I3 After `retire` nothing is started; after `kill` nothing runs.
 */
import { createDoor } from '../registry/door.js'
import { dirname, resolve } from 'node:path'
import { SvcError, toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import { HOOK_COMMAND_PROTOCOL } from '../../../protocol/plugin/plugin-frame.js'
import type { PluginEvent } from '../../../protocol/plugin/plugin-requests.js'
import type { Effects } from '../../../ports/effects.js'
import { isRecord } from '../../../protocol/text/json.js'
import { EVENT_HOOK, type EventsContribution, type Hook, HOOK_NAMES } from '../../../ports/contributions.js'
import type { HookCommand, HookManifest } from './hook-manifest.js'
import { type HookProgram, type HookRequest, hookTimeoutOf, runHookProgram } from './hook-process.js'
import type { InstanceProblem, StartInstance } from '../generation/instance.js'
import { pluginEnvironment } from '../process/process-spec.js'
import { type Sandbox, sandboxPolicy } from './sandbox.js'

export interface HookCommandDeps {
  readonly effects: Pick<Effects, 'processes' | 'files' | 'childEnv' | 'env'>
  readonly sandbox: Sandbox
  /** What the host grants to plugins of workspaces. */
  readonly grants: ReadonlySet<HostCapability>
  /** Address of this server, once it is known. */
  serverUrl(): string | undefined
}

/** Starts a hook command for a canonical workspace directory: finds its program, and runs nothing yet. */
export function startHookCommand(deps: HookCommandDeps, command: HookCommand, workspace: string): StartInstance {
  return async (_generation, onProblem, signal) => {
    const program = await programOf(deps, command, workspace)
    signal.throwIfAborted()
    const lane = createLane(deps.effects, command.id, program)
    const isRunFor = (name: CommandHook | typeof EVENT_HOOK) => program !== undefined && (command.manifest.hooks?.includes(name) ?? true)
    const events = isRunFor(EVENT_HOOK) ? createEventLane(lane, onProblem) : undefined
    return {
      contributions: {
        hooks: hooksOf(command.manifest, (name) => (isRunFor(name) ? lane.call : undefined)),
        ...(program && { hookState: () => stateOf(deps.effects, program) }),
        ...(events && { events }),
      },
      failed: new Promise<never>(ignore),
      retire() {
        lane.retire()
        events?.clear()
      },
      kill: lane.kill,
      gone: lane.gone,
      get droppedFrames() {
        return events?.dropped ?? 0
      },
    }
  }
}

type CommandHook = (typeof HOOK_NAMES)[number]
type Call = (request: HookRequest, signal?: AbortSignal) => Promise<unknown>

function hooksOf(manifest: HookManifest, callOf: (name: CommandHook) => Call | undefined): Readonly<Record<string, Hook>> {
  const hooks: Record<string, Hook> = {}
  for (const name of HOOK_NAMES) {
    const call = callOf(name)
    const added = additionsOf(manifest, name)
    if (added === undefined && call === undefined) continue
    hooks[name] = async (context, value, signal) => {
      const merged = added === undefined ? value : { ...(isRecord(value) && value), ...added }
      return call === undefined ? merged : call({ hook: name, context, value: merged }, signal)
    }
  }
  return hooks
}

function additionsOf({ chatHeaders, chatOptions, shellEnv }: HookManifest, name: CommandHook) {
  if (name === 'chat.headers') return chatHeaders ?? undefined
  if (name === 'chat.options') return chatOptions ?? undefined
  return name === 'shell.env' ? (shellEnv ?? undefined) : undefined
}

interface FoundProgram extends HookProgram {
  /** The program and the files that its arguments name. */
  readonly files: readonly string[]
}

/** The identities of its files: the answers of an edited script are other answers. */
async function stateOf({ files }: HookCommandDeps['effects'], program: FoundProgram): Promise<string> {
  const identities = program.files.map(async (file) => (await files.stat(file).catch(() => undefined))?.identity ?? '')
  return (await Promise.all(identities)).join(' ')
}

async function programOf(deps: HookCommandDeps, { id, file, manifest }: HookCommand, workspace: string): Promise<FoundProgram | undefined> {
  const { effects, sandbox, grants } = deps
  const [name, ...args] = typeof manifest.command === 'string' ? manifest.command.trim().split(/\s+/) : (manifest.command ?? [])
  if (name === undefined || name === '') return undefined
  const cwd = dirname(file)
  const program = name.includes('/') ? resolve(cwd, name) : await effects.processes.find(name)
  if (program === undefined) throw new SvcError('plugin.failed', `the program "${name}" was not found on the search path`)
  const network = manifest.network === true && grants.has('network')
  const policy = sandboxPolicy(manifest.sandbox ?? undefined, effects.env)
  const wrapped = await sandbox.wrap(policy, { program, args, cwd, network })
  if ('unavailable' in wrapped) throw new SvcError('plugin.failed', wrapped.unavailable)
  const env = pluginEnvironment(effects, { pluginId: id, directory: workspace, serverUrl: deps.serverUrl() })
  return {
    ...wrapped,
    cwd,
    env: { ...env, SVC_PLUGIN_PROTOCOL: HOOK_COMMAND_PROTOCOL },
    timeoutMs: hookTimeoutOf(manifest.timeoutMs),
    files: [program, ...args.map((arg) => resolve(cwd, arg))],
  }
}

interface Waiter {
  start(): void
  refuse(reason: unknown): void
}

/** I1, I3. A place is handed from the call that ends to the one that waited longest. */
function createLane(effects: Pick<Effects, 'processes'>, pluginId: string, program: HookProgram | undefined) {
  const killed = new AbortController()
  const waiting = new Set<Waiter>()
  const door = createDoor(pluginId)
  let running = 0
  let settle = ignore
  const gone = new Promise<void>((done) => {
    settle = done
  })

  const enter = async (signal: AbortSignal): Promise<void> => {
    if (running < LIMITS.plugins.legacyProcesses) return void running++
    if (waiting.size >= LIMITS.plugins.pendingCalls) throw new SvcError('plugin.failed', 'too many calls of it are waiting')
    await new Promise<void>((resolve, reject) => {
      const stop = () => waiter.refuse(signal.reason)
      const waiter: Waiter = {
        start() {
          signal.removeEventListener('abort', stop)
          waiting.delete(waiter)
          resolve()
        },
        refuse(reason) {
          signal.removeEventListener('abort', stop)
          waiting.delete(waiter)
          reject(reason instanceof Error ? reason : closed())
        },
      }
      signal.addEventListener('abort', stop, { once: true })
      waiting.add(waiter)
    })
  }
  const leave = () => {
    const [next] = waiting
    if (next !== undefined) return next.start()
    running--
  }
  const retire = () => {
    void door.close().then(settle)
    for (const waiter of waiting) waiter.refuse(closed())
  }

  const call: Call = async (request, signal) => {
    if (!door.open || program === undefined) throw closed()
    const both = signal === undefined ? killed.signal : AbortSignal.any([signal, killed.signal])
    both.throwIfAborted()
    return door.use(async () => {
      await enter(both)
      try {
        return await runHookProgram(effects, program, request, both)
      } finally {
        leave()
      }
    })
  }

  return {
    call,
    get open() {
      return door.open
    },
    gone,
    retire,
    kill() {
      killed.abort(closed())
      retire()
    },
  }
}

/** I2 */
function createEventLane(lane: { readonly call: Call; readonly open: boolean }, onProblem: (problem: InstanceProblem) => void) {
  const queue: PluginEvent[] = []
  let handling: Promise<void> | undefined
  let isFailing = false
  let dropped = 0

  const run = async () => {
    for (let event = queue.shift(); event !== undefined && lane.open; event = queue.shift()) {
      try {
        await lane.call({ hook: 'event', context: event, value: null })
        isFailing = false
      } catch (error) {
        if (!isFailing && lane.open)
          onProblem({ code: 'log', message: `the event ${event.type} was not taken: ${toFailure(error).message}` })
        isFailing = true
      }
    }
    handling = undefined
  }

  return {
    namespaces: [''],
    deliver(event: PluginEvent) {
      if (!lane.open) return
      if (queue.length >= LIMITS.plugins.eventQueue) {
        queue.shift()
        if (dropped++ === 0)
          onProblem({ code: 'flood', message: 'events come faster than the hook command takes them; the oldest are dropped' })
      }
      queue.push(event)
      handling ??= run()
    },
    clear() {
      queue.length = 0
    },
    get dropped() {
      return dropped
    },
  } satisfies EventsContribution & { clear(): void; readonly dropped: number }
}

function closed(): SvcError {
  return new SvcError('plugin.generation_closed', 'The hook command has been retired.')
}

function ignore(): void {}
