/** Peers that take or say more than anybody means: readers that do not read, servers that talk without end, sockets that are only held, long histories. */
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import type { Flood, Flooded } from './scene.js'

const HOSTILE = fileURLToPath(new URL('../../fixtures/mcp-hostile.mjs', import.meta.url))
const KiB = 1024
const HOLD = 3000

/** Opens sockets that say something, and read nothing. */
async function held({ server }: Flooded, count: number, text: string): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(server.url)
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname).on('error', () => undefined)
      await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), delay(1000)])
      if (text !== '') socket.write(text)
      return socket.pause()
    }),
  )
}

async function holding(flooded: Flooded, count: number, text: string): Promise<void> {
  const sockets = await held(flooded, count, text)
  await delay(HOLD)
  for (const socket of sockets) socket.destroy()
}

/** A bundle of so many turns with texts of so many bytes; answers the id of its session. */
async function imported({ server, place }: Flooded, turns: number, bytes: number): Promise<string> {
  const { id } = await server.createSession()
  const { body } = await server.call('GET', `/v2/sessions/${id}`)
  const time = { created: 1, completed: 2 }
  const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
  const part = (messageId: string, text: string) => ({ id: `prt_${messageId}`, sessionId: id, messageId, type: 'text', text })
  const messages = Array.from({ length: turns }, (_, at) => {
    const [asked, answered] = [`msg_${at}a`, `msg_${at}b`]
    const common = { sessionId: id, agent: 'build', cost: 0, tokens, path: { cwd: place.repo, root: place.repo } }
    return [
      {
        info: {
          id: asked,
          sessionId: id,
          role: 'user',
          time: { created: 1 },
          agent: 'build',
          model: { providerId: 'svc', modelId: 'offline' },
        },
        parts: [part(asked, `Turn ${at}`)],
      },
      {
        info: { ...common, id: answered, role: 'assistant', parentId: asked, time, modelId: 'offline', providerId: 'svc', mode: 'build' },
        parts: [part(answered, 'x'.repeat(bytes))],
      },
    ]
  }).flat()
  const bundle = { version: 1, workspaceRoot: place.repo, session: body, messages, queuedPrompts: [] }
  const answer = await server.call('POST', '/v2/sessions/import', { bundle, targetWorkspaceRoot: place.repo })
  const { sessionId: made } = answer.body as { readonly sessionId?: string }
  if (made === undefined) throw new Error(`no bundle was imported: ${answer.text.slice(0, 500)}`)
  return made
}

const history = (name: string, whole: readonly [turns: number, bytes: number], sample: readonly [turns: number, bytes: number]): Flood => ({
  name,
  prepare: (flooded) => imported(flooded, ...(flooded.size === 'whole' ? whole : sample)),
  async run({ send }, id) {
    const path = `/v2/sessions/${String(id)}`
    for (const [method, what] of [
      ['GET', 'context'],
      ['GET', 'undo-tree'],
      ['POST', 'undo'],
      ['POST', 'redo'],
      ['POST', 'fork'],
    ] as const) {
      const status = await send(method, `${path}/${what}`, method === 'POST' ? {} : undefined)
      if (status !== 200) throw new Error(`${what} was answered with ${status}`)
    }
  },
})

const READ = 'GET /v2/events?since=0 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'

export const PEERS: readonly Flood[] = [
  {
    name: 'readers of events that do not read',
    async prepare({ server, size }) {
      for (let at = 0; at < (size === 'whole' ? 300 : 30); at++)
        await server.call('POST', '/v2/sessions', {
          title: 'x'.repeat(900),
          permission: Array.from({ length: 200 }, (_, rule) => ({
            permission: 'bash',
            pattern: `${rule}${'y'.repeat(100)}`,
            action: 'ask',
          })),
        })
    },
    run: (flooded) => holding(flooded, flooded.size === 'whole' ? 400 : 50, READ),
  },
  { name: 'sockets that say nothing', run: (flooded) => holding(flooded, flooded.size === 'whole' ? 1500 : 600, '') },
  {
    name: 'an MCP server that says without end that its tools have changed',
    async run({ send }) {
      const config = { type: 'local', command: [process.execPath, HOSTILE, 'drowns-at-once'] }
      await send('POST', '/v2/plugins/dev.svc.mcp', { name: 'flood', config })
      await send('POST', '/v2/plugins/dev.svc.mcp/flood/connect')
      await delay(HOLD)
    },
  },
  history('a history of many turns', [10_000, 400], [400, 400]),
  history('a history of large turns', [180, 900 * KiB], [8, 900 * KiB]),
]
