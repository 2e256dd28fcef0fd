/** What a plugin is in the middle of, for each broker: what it asks, and how that is seen by whoever is at the other end. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Ask } from './host.js'

/** A peer that takes requests and keeps them: it answers nothing, or only the beginning. */
export interface Peer {
  readonly host: string
  /** Resolves when a request of this path has come. */
  came(path: string): Promise<{ readonly authorization: string | undefined }>
  /** Reads what it did not read before: the end of a connection comes behind that. */
  read(): void
  /** Paths whose connections are open. */
  readonly open: readonly string[]
  close(): void
}

interface Came {
  readonly authorization: string | undefined
}

interface Expected {
  readonly promise: Promise<Came>
  resolve(came: Came): void
}

function awaited(): Expected {
  let resolve: Expected['resolve'] = () => undefined
  const promise = new Promise<Came>((settle) => (resolve = settle))
  return { promise, resolve: (came) => resolve(came) }
}

export async function startPeer(): Promise<Peer> {
  const known = new Map<string, Expected>()
  const open = new Set<string>()
  const unread = new Set<IncomingMessage>()
  const of = (path: string) => {
    const entry = known.get(path) ?? awaited()
    known.set(path, entry)
    return entry
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    open.add(path)
    unread.add(request)
    request.socket.once('close', () => {
      open.delete(path)
      unread.delete(request)
    })
    if (path.includes('begun')) response.writeHead(200).write('begun')
    of(path).resolve({ authorization: request.headers['authorization'] })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    came: async (path) => of(path).promise,
    read: () => unread.forEach((request) => request.resume()),
    get open() {
      return [...open]
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** One call of a broker in the middle. */
export interface Held {
  readonly capability: string
  readonly what: string
  readonly asks: readonly Ask[]
  /** It is answered at once, and asked again and again. */
  readonly again?: boolean
  /** It is over with the call of the tool. */
  readonly isOfCall?: true
  /** Path of the request that the peer gets. */
  readonly path?: string
  /** What its processes carry. */
  readonly marked?: string
  /** The question that the model gets. */
  readonly asksModel?: string
  /** The person is asked. */
  readonly asksPerson?: boolean
}

const opaqueId = '$.opaqueId'
/** The session of the call: the plugin is in calls of several. */
const sessionId = '$.sessionId'
const STUBBORN = "trap '' TERM; setsid sleep 600 & sleep 600; sleep 600"
const PIECE = 'x'.repeat(64 * 1024)

/** Every case; `mark` is in all that it asks, so that one retirement is told from another. */
export function heldCalls(peer: Peer, mark: string): readonly Held[] {
  const url = (path: string) => `http://${peer.host}/${path}-${mark}`
  const network = (operation: string, input: object): Ask => ({ method: 'network.request', operation, input })
  const requests = (what: string, path: string, asks: readonly Ask[], rest: Partial<Held> = {}): Held => ({
    capability: 'network',
    what,
    asks,
    path: `/${path}-${mark}`,
    ...rest,
  })
  const spawns = (what: string, line: string): Held => ({
    capability: 'process-spawn',
    what,
    marked: `${mark}-${what}`,
    asks: [
      { method: 'process.spawn', operation: 'spawn', input: { command: ['sh', '-c', line], env: { HELD: `${mark}-${what}` }, sessionId } },
      { method: 'process.spawn', operation: 'wait', input: { opaqueId, waitMs: 60_000 } },
    ],
  })
  const again = (capability: string, what: string, ask: Ask, rest: Partial<Held> = {}): Held => ({
    capability,
    what,
    asks: [ask],
    again: true,
    ...rest,
  })
  return [
    requests('a request', 'fetch', [network('fetch', { url: url('fetch') })]),
    requests('an answer', 'fetch-begun', [network('fetch', { url: url('fetch-begun') })]),
    requests('an answer in pieces', 'read-begun', [
      network('open', { url: url('read-begun') }),
      network('read', { opaqueId }),
      network('read', { opaqueId }),
      network('read', { opaqueId }),
    ]),
    requests(
      'a body in pieces',
      'write',
      [network('open', { url: url('write'), method: 'POST', upload: true }), network('write', { opaqueId, text: PIECE })],
      { again: true },
    ),
    requests(
      'a body whose answer has begun',
      'write-begun',
      [network('open', { url: url('write-begun'), method: 'POST', upload: true }), network('write', { opaqueId, text: PIECE })],
      { again: true },
    ),
    requests('a secret in a header', 'secret', [network('fetch', { url: url('secret'), credential: { alias: 'token' } })], {
      capability: 'secret-use',
    }),
    again('secret-use', 'a signature', { method: 'secret.use', operation: 'sign', input: { alias: 'token', text: mark } }),
    again('secret-read', 'a value', { method: 'secret.read', operation: 'get', input: { alias: 'token' } }),
    spawns('a program', 'sleep 600 & sleep 600'),
    spawns('a program that stays', STUBBORN),
    {
      capability: 'task-spawn',
      what: 'a task',
      asksModel: `look around ${mark}`,
      asks: [
        {
          method: 'task.spawn',
          operation: 'spawn',
          input: { agent: 'explore', description: 'look', prompt: `look around ${mark}`, sessionId },
        },
        { method: 'task.spawn', operation: 'wait', input: { opaqueId, waitMs: 60_000 } },
      ],
    },
    {
      capability: 'provider-access',
      what: 'a question',
      asksModel: `why ${mark}?`,
      asks: [{ method: 'provider.call', operation: 'complete', input: { messages: [{ role: 'user', text: `why ${mark}?` }] } }],
    },
    {
      capability: 'policy-invoke',
      what: 'a person',
      asksPerson: true,
      isOfCall: true,
      asks: [
        { method: 'policy.call', operation: 'ask', input: { permission: 'deploy', patterns: [mark], title: `deploy ${mark}`, sessionId } },
        { method: 'policy.call', operation: 'answer', input: { opaqueId, waitMs: 60_000 } },
      ],
    },
    again('prompt-read', 'prompts', { method: 'prompt.read', operation: 'current', input: { sessionId } }, { isOfCall: true }),
    again('message-read', 'messages', { method: 'message.read', operation: 'list', input: { sessionId } }, { isOfCall: true }),
    again('response-transform', 'an answer', { method: 'response.transform', operation: 'read', input: { sessionId } }, { isOfCall: true }),
    again('config-write', 'a setting', { method: 'config.set', key: 'mark', value: mark }),
  ]
}
