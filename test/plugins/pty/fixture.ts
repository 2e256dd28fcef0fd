import type { OperationCall } from '../../../src/ports/doors.js'
import type { FrameSocket, SocketFrame } from '../../../src/ports/contributions.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { Pty, PtyConnectToken } from '../../../src/protocol/terminal/pty.js'
import type { Store } from '../../../src/store/store.js'
import { ptyPlugin } from '../../../src/plugins/pty/pty.plugin.js'
import { startTestService, type TestService } from '../../fakes/service.js'

type Call = (operation: string, call?: Partial<OperationCall>) => Promise<unknown>

export interface PtyPlace extends TestService {
  readonly call: Call
  create(body?: object): Promise<Pty>
  ticket(id: string): Promise<string>
  /** Connects with a fresh ticket. */
  connect(id: string, cursor?: number): Promise<Viewer>
}

/** What one client sees. */
interface Viewer {
  readonly socket: FrameSocket
  /** Text so far. */
  text(): string
  /** Cursors in the order they were told. */
  readonly cursors: number[]
  /** Resolves once the text contains `part`. */
  until(part: string): Promise<void>
  /** Takes nothing more, until `go`. */
  stall(): void
  go(): void
  type(text: string): Promise<void> | undefined
  /** Resolves when the terminal has closed the connection. */
  readonly closed: Promise<void>
}

/** The plugin in a service with fake terminals. */
export async function startPty(store?: Store, config?: Record<string, unknown>): Promise<PtyPlace> {
  const service = await startTestService({ plugins: [ptyPlugin()], ...(store && { store }), ...(config && { config }) })
  const { plugins } = service.runtime
  const whole = (call: Partial<OperationCall>): OperationCall => ({
    caller: TRUSTED_CALLER,
    directory: service.directory,
    params: {},
    query: {},
    headers: {},
    body: undefined,
    signal: new AbortController().signal,
    ...call,
  })
  const call: Call = (operation, given = {}) => plugins.call(`v2.plugins.pty.${operation}`, whole(given))
  async function ticket(id: string): Promise<string> {
    const answer = (await call('connectToken', { params: { pty_id: id }, headers: { 'x-svc-ticket': '1' } })) as PtyConnectToken
    return answer.ticket
  }
  return {
    ...service,
    call,
    ticket,
    create: async (body = {}) => (await call('create', { body })) as Pty,
    async connect(id, cursor) {
      const open = plugins.present('v2.plugins.pty.connect', await ticket(id))
      const { socket } = await open(whole({ params: { pty_id: id }, query: cursor === undefined ? {} : { cursor } }))
      return view(socket)
    },
  }
}

function view(socket: FrameSocket): Viewer {
  let text = ''
  const cursors: number[] = []
  const looks = new Set<() => void>()
  let held: Promise<void> | undefined
  let release: () => void = () => undefined

  function see({ kind, data }: SocketFrame): void {
    const content = new TextDecoder().decode(data)
    if (kind === 'text') text += content
    else cursors.push((JSON.parse(content.slice(1)) as { cursor: number }).cursor)
  }

  async function run(): Promise<void> {
    for await (const frames of socket.frames) {
      for (const frame of frames) see(frame)
      for (const look of looks) look()
      await held
    }
    socket.close()
  }

  return {
    socket,
    text: () => text,
    cursors,
    until: (part) =>
      new Promise((resolve) => {
        const look = () => {
          if (!text.includes(part)) return
          looks.delete(look)
          resolve()
        }
        looks.add(look)
        look()
      }),
    stall() {
      held = new Promise((resolve) => (release = resolve))
    },
    go() {
      held = undefined
      release()
    },
    type: (typed) => socket.take({ kind: 'text', data: new TextEncoder().encode(typed) }),
    closed: run(),
  }
}
