/** A client of terminals over HTTP and WebSocket, and what it was told. */
import { WebSocket } from 'ws'
import type { Pty } from '../../../src/protocol/terminal/pty.js'
import type { Server } from '../server/server.js'
import { PATIENCE } from '../../fakes/patience.js'

const PATH = '/v2/plugins/dev.svc.pty'
const TAIL = 4096
const LONG = 50_000

export interface Viewer {
  readonly socket: WebSocket
  /** Output so far. */
  text(): string
  /** Where the server says it stands, UTF-16 units since the start of the program. */
  cursor(): number
  /** Cursors in the order they were told. */
  readonly cursors: readonly number[]
  type(text: string): void
  /** Characters of output so far. */
  readonly length: number
  /** Resolves once the output matches, or what there is of its last 4,096 characters when it is long. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  readonly closed: Promise<{ code: number; reason: string }>
  /** Cuts the connection, as a network does. */
  drop(): void
}

export async function createTerminal(server: Server, body: object = {}): Promise<Pty> {
  const answer = await server.call('POST', PATH, body)
  if (answer.status !== 200) throw new Error(`no terminal: ${answer.status} ${answer.text}`)
  return answer.body as Pty
}

export async function ticketFor(server: Server, id: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await server.call('POST', `${PATH}/${id}/connect-token`, undefined, { 'x-svc-ticket': '1', ...headers })
  if (answer.status !== 200) throw new Error(`no ticket: ${answer.status} ${answer.text}`)
  return (answer.body as { ticket: string }).ticket
}

export function addressOf(server: Server, id: string, query: string): string {
  return `${server.url.replace('http', 'ws')}${PATH}/${id}/connect?${query}`
}

/** Connects with a fresh ticket; resolves when the connection is open. */
export async function connect(server: Server, id: string, cursor?: number): Promise<Viewer> {
  const query = new URLSearchParams({ ticket: await ticketFor(server, id), ...(cursor !== undefined && { cursor: String(cursor) }) })
  const socket = new WebSocket(addressOf(server, id, query.toString()), { perMessageDeflate: false })
  const viewer = view(socket)
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return viewer
}

function view(socket: WebSocket): Viewer {
  const parts: string[] = []
  const cursors: number[] = []
  const looks = new Set<() => void>()
  let length = 0
  let tail = ''
  const text = () => parts.join('')
  const seen = () => (length > LONG ? tail : text())
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) {
      const part = data.toString()
      parts.push(part)
      length += part.length
      tail = (tail + part).slice(-TAIL)
    } else cursors.push((JSON.parse(data.subarray(1).toString()) as { cursor: number }).cursor)
    for (const look of looks) look()
  })
  socket.on('error', () => undefined)
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString() })
      for (const look of looks) look()
    }),
  )
  return {
    socket,
    text,
    cursors,
    cursor: () => cursors.at(-1) ?? 0,
    type: (typed) => socket.send(typed),
    get length() {
      return length
    },
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${why} before ${String(pattern)}: ${JSON.stringify(tail.slice(-500))}`))
        const timer = setTimeout(() => fail('the deadline came'), PATIENCE)
        const look = () => {
          const match = pattern.exec(seen())
          if (match === null && socket.readyState !== WebSocket.CLOSED) return
          clearTimeout(timer)
          looks.delete(look)
          if (match === null) fail('the connection was closed')
          else resolve(match)
        }
        looks.add(look)
        look()
      }),
    closed,
    drop: () => socket.terminate(),
  }
}
