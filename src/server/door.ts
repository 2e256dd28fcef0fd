/**
 * How other commands of this user get the token of the server inside a command: by a socket in the state directory, which hands it to
 * a process that shows who it is, and to none that an agent of that server has started. No file holds it.
 *
 * I1 Who asks opens a file that is made for this one question, and says under which number: the system then names that file among the
 *    descriptors of the process that has it, and of no other. Where the system does not show descriptors nobody can be told apart.
 * I2 Each question is answered once, within `PATIENCE`, and its file is gone then.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import * as z from 'zod'
import { removeHint } from '../store/disk/hints.js'

const NAME = 'server.sock'
/** ms */
const PATIENCE = 5000
const MOST_BYTES = 4096
const SHOWS_DESCRIPTORS = process.platform === 'linux'

const Question = z.object({ file: z.string() })
const Claim = z.object({ pid: z.number().int().positive(), descriptor: z.number().int().nonnegative() })
const Verdict = z.union([z.object({ token: z.string() }), z.object({ refused: z.string() })])
export type Verdict = z.infer<typeof Verdict>

export interface DoorOptions {
  readonly state: string
  readonly token: string
  /** Whether an agent of this server has started a process. */
  isAgents(pid: number): boolean
}

/** Opens it; answers the function that closes it. A door that cannot be had is no reason to stop: then nobody else uses the server. */
export async function openDoor({ state, token, isAgents }: DoorOptions): Promise<() => void> {
  const path = join(state, NAME)
  removeHint(path)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    void answer(socket, { state, token, isAgents }).catch(() => socket.destroy())
  })
  server.unref()
  const isOpen = await withShortPath(state, async (short) => {
    return new Promise<boolean>((resolve) => server.once('error', () => resolve(false)).listen(short, () => resolve(true)))
  })
  return () => {
    if (isOpen) server.close()
    for (const socket of open) socket.destroy()
    removeHint(path)
  }
}

/** Undefined when nobody answers at the door. */
export async function askAtDoor(state: string): Promise<Verdict | undefined> {
  if (!existsSync(join(state, NAME))) return undefined
  return withShortPath(state, async (short) => {
    const socket = connect(short)
    const lines = linesOf(socket)
    try {
      const { file } = Question.parse(await lines())
      const descriptor = openSync(file, 'r')
      try {
        socket.write(`${JSON.stringify({ pid: process.pid, descriptor })}\n`)
        return Verdict.parse(await lines())
      } finally {
        closeSync(descriptor)
      }
    } catch {
      return undefined
    } finally {
      socket.destroy()
    }
  })
}

async function answer(socket: Socket, { state, token, isAgents }: DoorOptions): Promise<void> {
  const file = join(state, `${NAME}.${randomBytes(16).toString('hex')}`)
  const lines = linesOf(socket)
  writeFileSync(file, '', { mode: 0o600 })
  try {
    socket.write(`${JSON.stringify({ file })}\n`)
    const { pid, descriptor } = Claim.parse(await lines())
    socket.end(`${JSON.stringify(verdictOn(pid, hasOpened(pid, descriptor, file), { token, isAgents }))}\n`)
  } finally {
    rmSync(file, { force: true }) // I2
  }
}

function verdictOn(pid: number, isShown: boolean, { token, isAgents }: Pick<DoorOptions, 'token' | 'isAgents'>): Verdict {
  if (!isShown) return { refused: 'it is not certain which process asks' }
  return isAgents(pid) ? { refused: 'an agent of this server has started the process that asks' } : { token }
}

/** I1 */
function hasOpened(pid: number, descriptor: number, file: string): boolean {
  if (!SHOWS_DESCRIPTORS) return true
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`) === realpathSync(file)
  } catch {
    return false
  }
}

/** One JSON value a line; rejects when the other side is gone, says too much or too little. */
function linesOf(socket: Socket): () => Promise<unknown> {
  let text = ''
  let failed: Error | undefined
  let wake: () => void = () => undefined
  const fail = (error: Error) => {
    failed ??= error
    wake()
  }
  socket.setTimeout(PATIENCE, () => socket.destroy(new Error('the other side says nothing')))
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the other side is gone')))
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
    if (text.length > MOST_BYTES) socket.destroy(new Error('the other side says too much'))
    wake()
  })
  return async () => {
    for (;;) {
      const end = text.indexOf('\n')
      if (end >= 0) {
        const line = text.slice(0, end)
        text = text.slice(end + 1)
        return JSON.parse(line) as unknown
      }
      if (failed !== undefined) throw failed
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
}

/** An address of a socket has some 100 bytes; on Linux a directory has a short name while it is open. */
async function withShortPath<T>(state: string, use: (path: string) => Promise<T>): Promise<T> {
  if (!SHOWS_DESCRIPTORS) return use(join(state, NAME))
  const directory = openSync(state, 'r')
  try {
    return await use(`/proc/self/fd/${directory}/${NAME}`)
  } finally {
    closeSync(directory)
  }
}
