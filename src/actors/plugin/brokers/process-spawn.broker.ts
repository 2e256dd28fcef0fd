/**
 * Programs that the host runs for plugins (`host.process.spawn`; threat-model C1–C5, K1).
 *
 * I1 What is started is an absolute path, found on the search path of the host or named so, and not in the workspace (C5).
 * I2 Its environment is that of every child, and what the plugin adds decides neither what runs nor what is trusted (K1).
 * I3 It runs where commands of agents would: in the sandbox where that is on, else nowhere when it cannot be had.
 * I4 A rule that denies the line to the shell of the agent denies it to the plugin that the agent has called: a grant stands for an answer to
 *    what a rule asks, and undoes no deny (choice 34). The line counts that is handed to a shell, too (G2).
 */
import { StringDecoder } from 'node:string_decoder'
import { isDenied, lineNames, lineText } from '../../../machines/acceptance/standing.js'
import { carriedLines } from '../../../machines/permission/lines-within.js'
import { messageOf } from '../../../protocol/message-of.js'
import { isWithin } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { PermissionAction } from '../../../protocol/interaction/interaction.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { OperationInput } from '../../../protocol/plugin/broker-operations.js'
import type { ChildPipe, Effects, PipeOptions } from '../../../ports/effects.js'
import type { CommandSandbox } from '../../../ports/doors.js'
import type { Store } from '../../../store/store.js'
import { HookedVariables } from '../calls/hook-values.js'
import { type Broker, type BrokerLease, defineBroker } from './broker.js'
import { createOpenings, type Opening } from './openings.js'
import { createOutputRing, type OutputRing } from './output-ring.js'
import { meantSession } from './own-sessions.js'

/** What rules say where no tool call is under way. */
interface StandingRules {
  /** Of a session, as its agent would be judged now; without one, of the default agent of a directory. */
  decisions(
    of: { readonly directory: string; readonly sessionId?: string },
    permission: string,
    patterns: readonly string[],
  ): Promise<readonly PermissionAction[]>
}

export interface ProcessBrokerDeps {
  readonly effects: Pick<Effects, 'clock' | 'processes' | 'childEnv'> & { readonly files: Pick<Effects['files'], 'realPath' | 'stat'> }
  readonly sandbox: Pick<CommandSandbox, 'isOn' | 'whyMissing' | 'wrap'>
  readonly store: Pick<Store, 'sessions'>
  readonly rules: StandingRules
  /** Absolute path of a program by its name; undefined when it is missing, or found in the workspace. */
  find(name: string, directory: string): Promise<string | undefined>
}

const limits = LIMITS.pluginProcesses

/** One program. */
interface Running {
  readonly command: readonly string[]
  readonly startedAt: number
  readonly output: OutputRing
  readonly hasInput: boolean
  pipe?: ChildPipe
  ending?: Awaited<ChildPipe['ended']>
}

type Spawn = OperationInput<'process-spawn', 'spawn'>

export function processBroker(deps: ProcessBrokerDeps): Broker {
  const { effects } = deps
  return defineBroker('process-spawn', (lease) => {
    const openings = createOpenings<Running>(lease, {
      clock: effects.clock,
      what: ['program', 'programs'],
      kind: 'program',
      running: limits.running,
      kept: limits.kept,
    })
    return {
      operations: {
        async spawn(input, { signal }) {
          openings.refuseTooMany()
          const line = await lineOf(deps, lease, input)
          signal.throwIfAborted()
          const { opaqueId } = await start(deps, openings, { ...input, ...line })
          return { opaqueId, program: line.program, sandboxed: line.sandboxed }
        },
        async read({ opaqueId, cursor, maxBytes, waitMs }, { signal }) {
          const { output } = openings.find(opaqueId).about
          if (output.end <= cursor) await openings.until(opaqueId, { ms: waitMs, signal, changed: (over) => output.added(cursor, over) })
          const opening = openings.find(opaqueId)
          const read = output.read(cursor, maxBytes)
          lease.count(read.cursor - cursor)
          return { ...read, ...standingOf(opening) }
        },
        write({ opaqueId, text, end }) {
          const { about, isOver } = openings.find(opaqueId)
          const { pipe, hasInput } = about
          if (!hasInput) throw new SvcError('request.unprocessable', 'the program was started without an open input ("stdin")')
          if (pipe === undefined || isOver) throw new SvcError('request.unprocessable', 'the program has ended')
          if (text !== '' && !pipe.write(text))
            throw new SvcError('request.unprocessable', 'the input of the program is closed, or it does not read what was written before')
          if (end) pipe.closeInput()
          lease.count(Buffer.byteLength(text))
          return { waiting: pipe.waiting }
        },
        async wait({ opaqueId, waitMs }, { signal }) {
          await openings.until(opaqueId, { ms: waitMs, signal })
          return standingOf(openings.find(opaqueId))
        },
        signal({ opaqueId, signal: name }) {
          const { about, isOver } = openings.find(opaqueId)
          return { sent: !isOver && about.pipe?.signal(name) === true }
        },
        list: () => ({
          processes: openings.all().map((opening) => {
            const { command, startedAt } = opening.about
            return { opaqueId: opening.opaqueId, command: [...command], startedAt, ...standingOf(opening) }
          }),
        }),
        close: async ({ opaqueId }) => ({ closed: await openings.close(opaqueId) }),
      },
      cancel: async (opaqueId) => void (await openings.close(opaqueId)),
    }
  })
}

interface Line {
  readonly program: string
  readonly sandboxed: boolean
  readonly start: Pick<PipeOptions, 'command' | 'args' | 'cwd' | 'env' | 'holds' | 'isSandbox'>
}

/** What is started, and where. Throws when it is not to be. */
async function lineOf(deps: ProcessBrokerDeps, lease: BrokerLease, input: Spawn): Promise<Line> {
  const { effects, sandbox } = deps
  const session = meantSession(deps.store.sessions, lease, input.sessionId)
  const workspace = lease.place.workspace ?? session?.directory
  if (workspace === undefined)
    throw refused('there is no workspace here: the plugin has none of its own, and serves no session that has one')
  const cwd = await directoryIn(effects.files, workspace, input.cwd)
  const env = { ...effects.childEnv, ...variablesOf(input.env) }
  const [name = '', ...args] = input.command
  const program = await programOf(deps, name, workspace)
  const asking = session === undefined ? lease.served.current() : [session.id]
  await refuseDenied(deps, lease, { workspace, asking, words: input.command, program })
  if (!(await sandbox.isOn(workspace))) return { program, sandboxed: false, start: { command: program, args, cwd, env } }
  const why = await sandbox.whyMissing()
  if (why !== undefined) throw refused(`the sandbox is switched on (permission.sandbox) and cannot be had: ${why}`) // I3
  const wrapped = await sandbox.wrap({
    program,
    args,
    cwd,
    workspace,
    network: lease.capabilities.has('network'),
    searchPath: env['PATH'] ?? '',
    directories: [],
    reads: [],
    writes: [],
  })
  if ('unavailable' in wrapped) throw refused(`there is no sandbox: ${wrapped.unavailable}`)
  return {
    program,
    sandboxed: true,
    start: { command: wrapped.program, args: wrapped.args, cwd, env, holds: wrapped.holds ?? [], isSandbox: true },
  }
}

/** I1 */
async function programOf({ effects, find }: ProcessBrokerDeps, name: string, workspace: string): Promise<string> {
  if (name === '') throw refused('the command names no program')
  if (name.includes('/') && !name.startsWith('/'))
    throw refused(`"${name.slice(0, 200)}" is a relative path: name a program of the search path, or an absolute path`)
  const program = await find(name, workspace)
  const real = program === undefined ? undefined : await effects.files.realPath(program).catch(() => undefined)
  if (program === undefined || real === undefined)
    throw refused(`the program "${name.slice(0, 200)}" is not found outside of the workspace`)
  if (isWithin(workspace, program) || isWithin(workspace, real)) throw refused(`the program "${name.slice(0, 200)}" is in the workspace`)
  return program
}

async function directoryIn(files: ProcessBrokerDeps['effects']['files'], workspace: string, path: string): Promise<string> {
  if (path.startsWith('/')) throw refused('"cwd" is not relative to the workspace')
  const real = await files.realPath(`${workspace}/${path}`).catch(() => undefined)
  if (real === undefined || (await files.stat(real))?.kind !== 'directory')
    throw refused(`the directory "${path.slice(0, 200)}" is not there`)
  if (!isWithin(workspace, real)) throw refused(`the directory "${path.slice(0, 200)}" leads out of the workspace`)
  return real
}

/** I2 */
function variablesOf(env: Spawn['env']): Readonly<Record<string, string>> {
  if (Object.keys(env).length > limits.variables) throw refused(`"env" has more than ${limits.variables} variables`)
  const parsed = HookedVariables.safeParse(env)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw refused(`the variable ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'cannot be set'}`)
}

interface Asked {
  readonly workspace: string
  /** Sessions in which it may be asked: which of several is not known where none is named. */
  readonly asking: readonly string[]
  readonly words: readonly string[]
  readonly program: string
}

/** I4 */
async function refuseDenied(deps: ProcessBrokerDeps, lease: BrokerLease, { workspace, asking, words, program }: Asked): Promise<void> {
  const names = [...lineNames(words, program), ...carriedLines(words)]
  const ofSession = (sessionId: string) =>
    lease.served.toolCall(sessionId)?.decisions('bash', names) ?? deps.rules.decisions({ directory: workspace, sessionId }, 'bash', names)
  const decisions = await Promise.all(
    asking.length === 0 ? [deps.rules.decisions({ directory: workspace }, 'bash', names)] : asking.map(async (id) => ofSession(id)),
  )
  if (isDenied(decisions.flat()))
    throw new SvcError('request.forbidden', `a permission rule of the agent denies "${lineText(words).slice(0, 400)}"`)
}

/** Resolves once it runs; rejects when it cannot be started. */
async function start(
  { effects }: ProcessBrokerDeps,
  openings: ReturnType<typeof createOpenings<Running>>,
  { start: line, command, outputBytes, timeoutMs, stdin }: Spawn & Line,
): Promise<Opening<Running>> {
  const output = createOutputRing(outputBytes)
  const about: Running = { command, startedAt: effects.clock.now(), output, hasInput: stdin }
  const opening = await new Promise<Opening<Running>>((resolve, reject) => {
    const run = async (signal: AbortSignal): Promise<void> => {
      const streams = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
      const hear = (stream: keyof typeof streams) => (chunk: Uint8Array) => output.add(stream, streams[stream].write(Buffer.from(chunk)))
      const pipe = await effects.processes.open({
        ...line,
        inputBacklog: limits.inputBacklog,
        onStdout: hear('stdout'),
        onStderr: hear('stderr'),
      })
      about.pipe = pipe
      signal.addEventListener('abort', () => pipe.signal('SIGTERM'), { once: true })
      if (signal.aborted) pipe.kill()
      if (!stdin) pipe.closeInput()
      resolve(mine)
      about.ending = await pipe.ended
      for (const stream of ['stdout', 'stderr'] as const) output.add(stream, streams[stream].end())
      await pipe.gone
    }
    const guarded = (signal: AbortSignal) =>
      run(signal).catch((error: unknown) => {
        reject(refused(`the program cannot be started: ${messageOf(error)}`))
        throw error
      })
    const mine = openings.open(about, { timeoutMs, run: guarded, kill: () => about.pipe?.kill() })
  })
  return opening
}

function standingOf({ about, isOver, stopped }: Opening<Running>) {
  const { ending } = about
  return { ended: isOver, exitCode: ending?.exitCode ?? null, signal: ending?.signal ?? null, stopped }
}

function refused(message: string): SvcError {
  return new SvcError('request.unprocessable', message)
}
