/**
 * One terminal: the near side of a pair of devices, and the session behind the far side.
 *
 * I1 The far side is held open here until the program has ended and all it wrote was read; otherwise the system drops
 *    what is still on its way when the last process closes it.
 * I2 The descriptor is read, written and resized only while `isOpen`; nothing touches it in another thread.
 * I3 From the program's end on a pause holds nothing back; `LAST_OUTPUT` bounds what processes it left behind may add.
 * I4 The gate's line comes back as an echo, which is the first the terminal says and no output of the program.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import type { OnReadOpts, SocketConstructorOpts } from 'node:net'
import { ReadStream } from 'node:tty'
import { SvcError } from '../../../protocol/errors.js'
import type { Families } from '../process/program-families.js'
import { settlesWithin } from '../process/group-signals.js'
import type { Terminal, TerminalOptions } from '../../../ports/effects.js'
import { createInput } from './input.js'
import type { PtyBinding } from './pty-binding.js'
import type { Sessions } from '../process/session-signals.js'
import { messageOf } from '../../../protocol/message-of.js'

export interface LiveTerminal extends Terminal {
  readonly fd: number
  /** Lets the program start. */
  openGate(): void
}

export interface TerminalParts {
  readonly pty: PtyBinding
  readonly sessions: Sessions
  readonly families: Families
}

/** One byte less than a page: what the system hands out at a time. A full buffer is read again at once, without a look at other descriptors. */
const READ_BYTES = 4095
const LAST_OUTPUT = 1024 * 1024
/** How long the end of the program may take to be told after a kill. */
const LAST_WAIT = 1000
const GATE_LINE = Buffer.from('\n')
const ECHO = [0x0d, 0x0a]

/** What is read of the near side, in the stream and in the end beside it. */
interface NearSide extends Pick<TerminalOptions, 'onData'> {
  readonly fd: number
  isOpen: boolean
  /** Characters of the echo that were heard (I4). */
  echoed: number
}

/** Starts `program` at once; throws `request.unprocessable` when it cannot be. */
export function superviseTerminal(
  { pty, sessions, families }: TerminalParts,
  program: readonly [string, ...string[]],
  options: TerminalOptions,
): LiveTerminal {
  let tellExit: (exitCode: number | null) => void = () => undefined
  const exited = new Promise<number | null>((resolve) => (tellExit = resolve))

  const { variable, begin } = families.expect('terminal')
  const marked = { ...options, env: { ...options.env, ...variable } }
  const { fd, pid, path } = fork(pty, program, marked, (code, signal) => tellExit(signal === 0 ? code : null))
  const family = begin(pid)
  const far = openSync(path, constants.O_RDWR | constants.O_NOCTTY) // I1
  const side: NearSide = { fd, onData: options.onData, isOpen: true, echoed: 0 }
  const input = createInput((bytes) => (side.isOpen ? writeSync(fd, bytes) : bytes.length))
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  // Read into one buffer: a paused stream then keeps nothing, and a running one makes no garbage.
  const reading: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    onread: {
      buffer,
      callback(size) {
        deliver(side, buffer.subarray(0, size))
        return true
      },
    },
  }
  const stream = new ReadStream(fd, reading)
  stream.on('error', () => undefined) // its end is handled where it is seen, at close
  stream.once('close', () => {
    if (!side.isOpen) return
    side.isOpen = false
    input.end()
    sessions.signal(pid, 'SIGKILL')
  })
  stream.resume()

  const finish = async () => {
    const exitCode = await exited
    input.end()
    stream.pause()
    drain(side) // I3
    await family.end('session', () => sessions.end(pid))
    drain(side)
    closeSync(far)
    side.isOpen = false
    stream.destroy()
    return { exitCode }
  }
  const ended = finish()
  let ending: Promise<void> | undefined

  /** A program that no signal ends is given up after a while. */
  async function abandonLater(): Promise<void> {
    if (!(await settlesWithin(exited, LAST_WAIT))) tellExit(null)
  }

  return {
    fd,
    pid,
    openGate: () => input.add(GATE_LINE),
    write: (bytes) => input.add(bytes),
    get waiting() {
      return input.waiting
    },
    taken: () => input.taken(),
    resize(cols, rows) {
      if (side.isOpen) pty.resize(fd, cols, rows)
    },
    pause() {
      if (side.isOpen) stream.pause()
    },
    resume() {
      if (side.isOpen) stream.resume()
    },
    ended,
    end() {
      family.look()
      ending ??= sessions.end(pid).then(abandonLater)
    },
    kill() {
      if (!side.isOpen) return
      family.look()
      sessions.signal(pid, 'SIGKILL')
      ending ??= abandonLater()
    },
  }
}

function deliver(side: NearSide, bytes: Uint8Array): void {
  let at = 0
  while (side.echoed < ECHO.length && at < bytes.length) {
    const isEcho = bytes[at] === ECHO[side.echoed] // I4
    side.echoed = isEcho ? side.echoed + 1 : ECHO.length
    if (isEcho) at++
  }
  if (at < bytes.length) side.onData(at === 0 ? bytes : bytes.subarray(at))
}

/** Reads what is there, whether the stream is paused or not. */
function drain(side: NearSide): void {
  const chunk = Buffer.allocUnsafe(READ_BYTES)
  for (let total = 0; side.isOpen && total < LAST_OUTPUT; ) {
    let size: number
    try {
      size = readSync(side.fd, chunk)
    } catch {
      return // nothing more for now, or the other side is gone
    }
    if (size === 0) return
    total += size
    deliver(side, chunk.subarray(0, size))
  }
}

function fork(
  pty: PtyBinding,
  [program, ...args]: readonly [string, ...string[]],
  { env, cwd, cols, rows }: TerminalOptions,
  onExit: (code: number, signal: number) => void,
): ReturnType<PtyBinding['fork']> {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  try {
    return pty.fork(program, args, { env: variables, cwd, cols, rows }, onExit)
  } catch (cause) {
    const reason = messageOf(cause)
    throw new SvcError('request.unprocessable', `The terminal could not be opened: ${reason}`, {}, { cause })
  }
}
