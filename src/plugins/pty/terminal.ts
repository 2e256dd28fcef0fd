/**
 * One terminal: its actor, the output of its program, and its clients (subsystems g).
 *
 * I1 Output is kept and read by whoever connects; nobody waits for a client but the foremost: the program is paused while
 *    even that one is far behind, and runs on while nobody is connected.
 * I2 A client that falls behind what is kept goes on with the oldest that is; it stalls nobody.
 * I3 The output of a new program begins anew; clients of the last one are closed once they have read it.
 */
import { chartOf } from '../../kernel/machine/chart.js'
import { type AnyEventObject, createActor, fromCallback, fromPromise, toPromise } from 'xstate'
import type { Terminal as Process } from '../../ports/effects.js'
import type { FrameSocket, SocketFrame } from '../../ports/contributions.js'
import type { NativeHost } from '../../ports/plugin.js'
import { type Incarnation, ptyMachine } from '../../machines/pty/pty.machine.js'
import { createLane } from '../../kernel/lane.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Pty } from '../../protocol/terminal/pty.js'
import { type Client, createClient } from './client.js'
import { createOutput } from './output.js'
import { messageOf } from '../../protocol/message-of.js'

/** Its machine asks for two at most: a start, and the end while that goes on. */
const AT_ONCE = 2
const { lagBytes, lagResume, inputBytes, inputBacklog, clients: MOST_CLIENTS } = LIMITS.terminals

export interface Terminal {
  /** As it is shown; a new start takes command and directory from here. */
  info: Pty
  /** Starts the program unless it runs. Throws `quota.exceeded` when too many are connected. */
  connect(cursor: number | undefined): FrameSocket
  resize(size: Size): void
  /** Ends program and clients; resolves when nothing of it runs. */
  remove(): Promise<void>
}

interface Size {
  readonly cols: number
  readonly rows: number
}

export interface TerminalDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'terminals' | 'childEnv' | 'log'>
  readonly actors: NativeHost['actors']
  /** The program of this terminal has ended; null = by a signal. */
  onExit(ptyId: string, exitStatus: number | null): void
}

/** What one program has, from the moment somebody wants it. */
interface Run {
  readonly output: ReturnType<typeof createOutput>
  readonly clients: Set<Client>
  process: Process | undefined
  isPaused: boolean
  isWaking: boolean
  /** Typed before the program was there, and how many bytes that is. */
  early: Uint8Array[]
  earlyBytes: number
}

export function createTerminal(deps: TerminalDeps, first: Pty): Terminal {
  const { clock, terminals, childEnv, log } = deps.effects
  let info = first
  let size: Size = { cols: LIMITS.terminals.cols, rows: LIMITS.terminals.rows }
  let run: Run = newRun()
  /** What is being started is there, or has failed, before it is ended. */
  const lane = createLane({ most: AT_ONCE })

  async function spawn(mine: Run, signal: AbortSignal): Promise<void> {
    const [command = '', ...args] = info.command
    const env = { ...childEnv, TERM: 'xterm-256color', SVC_TERMINAL: '1' }
    try {
      const process = await terminals.open({
        command,
        args,
        env,
        cwd: info.cwd,
        ...size,
        onData(bytes) {
          mine.output.append(bytes)
          regulate(mine)
          wakeSoon(mine)
        },
      })
      mine.process = process
      if (signal.aborted) process.end()
      if (mine.earlyBytes > 0) process.write(Buffer.concat(mine.early))
      process.resize(size.cols, size.rows)
    } catch (error) {
      log.warn('a terminal could not start its program', { ptyId: info.id, cause: String(error) })
      mine.output.append(new TextEncoder().encode(`${messageOf(error)}\r\n`))
      finish(mine)
      throw error
    } finally {
      mine.early = []
      mine.earlyBytes = 0
    }
  }

  const logic = chartOf(ptyMachine).provide({
    actors: {
      spawn: fromPromise<void, Incarnation>(({ signal }) => {
        const mine = run
        return lane.run(() => spawn(mine, signal))
      }),
      process: fromCallback<AnyEventObject, Incarnation>(({ sendBack }) => {
        const mine = run
        void mine.process?.ended.then(({ exitCode }) => {
          finish(mine)
          deps.onExit(info.id, exitCode)
          sendBack({ type: 'process.exited' })
        })
        return () => undefined
      }),
      end: fromPromise<void, Incarnation>(() =>
        lane.run(async () => {
          run.process?.end()
          await run.process?.ended
          finish(run)
        }),
      ),
    },
  })
  const actor = createActor(logic, {
    input: { id: first.id },
    clock,
  })
  actor.subscribe({ error: (error) => log.error('the actor of a terminal failed', { ptyId: first.id, cause: String(error) }) })
  deps.actors.add(actor, 'pty')
  actor.start()
  const gone = toPromise(actor).then(ignore, ignore)

  return {
    get info() {
      return info
    },
    set info(changed) {
      info = changed
    },
    connect(cursor) {
      if (!actor.getSnapshot().hasTag('live')) {
        run = newRun() // I3
        actor.send({ type: 'connect.requested' })
      }
      if (run.clients.size >= MOST_CLIENTS) {
        throw new SvcError('quota.exceeded', `At most ${MOST_CLIENTS} clients may be connected to one terminal.`)
      }
      return join(run, cursor)
    },
    resize(wanted) {
      size = wanted
      run.process?.resize(wanted.cols, wanted.rows)
    },
    async remove() {
      actor.send({ type: 'remove.requested' })
      for (const client of run.clients) client.close()
      await gone
      run.process?.kill()
      finish(run)
    },
  }
}

function newRun(): Run {
  return { output: createOutput(), clients: new Set(), process: undefined, isPaused: false, isWaking: false, early: [], earlyBytes: 0 }
}

function join(run: Run, cursor: number | undefined): FrameSocket {
  const client = createClient(run.output, cursor, () => regulate(run))
  run.clients.add(client)
  regulate(run)
  return {
    frames: client.frames,
    take: (frame) => type(run, frame),
    close() {
      client.close()
      run.clients.delete(client)
      regulate(run)
    },
  }
}

/** Hands input on; a client whose input waits is not read until it was taken. */
function type(run: Run, { kind, data }: SocketFrame): Promise<void> | undefined {
  if (data.length === 0 || (kind === 'binary' && data[0] === 0)) return undefined
  const { process } = run
  const waiting = process === undefined ? run.earlyBytes : process.waiting
  if (waiting + data.length > inputBacklog) throw new SvcError('quota.exceeded', 'The program does not read its input.')
  if (process === undefined) {
    run.early.push(data)
    run.earlyBytes += data.length
    return undefined
  }
  process.write(data)
  return process.waiting > inputBytes ? process.taken() : undefined
}

/** I1: pauses the program while even the foremost client is far behind. */
function regulate(run: Run): void {
  const { process, clients } = run
  if (process === undefined) return
  let lag = clients.size === 0 ? 0 : Number.POSITIVE_INFINITY
  for (const client of clients) lag = Math.min(lag, client.behind)
  if (!run.isPaused && lag > lagBytes) {
    run.isPaused = true
    process.pause()
  } else if (run.isPaused && lag <= lagResume) {
    run.isPaused = false
    process.resume()
  }
}

/** Once for everything that is read in one turn of the event loop. */
function wakeSoon(run: Run): void {
  if (run.isWaking) return
  run.isWaking = true
  setImmediate(() => {
    run.isWaking = false
    wake(run)
  })
}

function wake({ clients }: Run): void {
  for (const client of clients) client.wake()
}

function finish(run: Run): void {
  run.output.finish()
  wake(run)
}

function ignore(): void {}
