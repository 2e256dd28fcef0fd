/**
 * Stands before a server: breaks its first event stream at the second piece of text, and says of the next that its cursor has expired. Who has
 * read nothing yet when the stream breaks has no cursor, and is let through.
 */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ForgetfulProxy {
  readonly url: string
  close(): void
}

export async function startForgetfulProxy(server: string): Promise<ForgetfulProxy> {
  let streams = 0
  let pieces = 0
  let forgot = false
  const proxy = createServer((asked, answer) => {
    const target = new URL(asked.url ?? '/', server)
    const isStream = target.pathname === '/v2/events'
    if (isStream) streams++
    if (isStream && !forgot && asked.headers['last-event-id'] !== undefined) {
      forgot = true
      answer.writeHead(409, { 'content-type': 'application/json' })
      answer.end(JSON.stringify({ code: 'events.cursor_expired', message: 'gone', retryable: false, details: {} }))
      return
    }
    const breaks = isStream && streams === 1
    const passed = request(target, { method: asked.method, headers: { ...asked.headers, host: target.host } }, (given) => {
      answer.writeHead(given.statusCode ?? 500, given.headers)
      given.on('error', () => answer.destroy())
      given.on('data', (piece: Buffer) => {
        answer.write(piece)
        if (breaks && piece.includes('message.part.delta') && ++pieces === 2) setImmediate(() => answer.destroy())
      })
      given.on('end', () => answer.end())
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}
