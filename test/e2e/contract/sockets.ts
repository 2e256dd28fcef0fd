/** Operations that do not answer at once: streams of records, and terminals over a WebSocket. */
import { WebSocket } from 'ws'
import type { Answer } from '../server/server.js'
import { addressOf, createTerminal, ticketFor } from '../terminal/terminals.js'
import { TOKEN, type World } from './world.js'

const DEADLINE = 3000

/** Opens a stream, makes something happen, and reads until the first record is whole. */
export async function firstRecord(
  world: World,
  path: string,
  happen: () => Promise<unknown>,
): Promise<{ answer: Answer; record: unknown }> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-svc-directory': world.scene.place.repo }
  const controller = new AbortController()
  const response = await fetch(`${world.server.url}${path}`, { headers, signal: controller.signal })
  const answer = { status: response.status, headers: response.headers, text: '', body: undefined }
  if (response.body === null || response.status !== 200) return { answer: { ...answer, text: await response.text() }, record: undefined }
  const timer = setTimeout(() => controller.abort(new Error('no record came in time')), DEADLINE)
  try {
    await happen()
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true })
      const [, data] = /^data: (.*)\n\n/m.exec(text) ?? []
      if (data !== undefined) return { answer, record: JSON.parse(data) as unknown }
    }
    throw new Error(`the stream ended before a record: ${text}`)
  } finally {
    clearTimeout(timer)
    controller.abort()
  }
}

/** Connects to a fresh terminal: what the handshake was answered, and no body. */
export async function connectTerminal({ server }: World): Promise<Answer> {
  const { id } = await createTerminal(server, { command: ['/bin/sh'] })
  const socket = new WebSocket(addressOf(server, id, `ticket=${await ticketFor(server, id)}`))
  return new Promise<Answer>((resolve, reject) => {
    const answered = (status: number) => resolve({ status, headers: new Headers(), text: '', body: undefined })
    socket.once('unexpected-response', (_request, { statusCode = 0 }) => answered(statusCode))
    socket.once('upgrade', ({ statusCode = 0 }) => answered(statusCode))
    socket.once('error', reject)
  }).finally(() => socket.terminate())
}
