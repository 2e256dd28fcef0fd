/** The door on this machine to which an authorization server sends a browser back (threat-model N3). */
import { createServer, type IncomingMessage } from 'node:http'
import { SvcError } from '../../../protocol/errors.js'
import type { RedirectListener, RedirectPage } from '../../../ports/effects.js'

const HEADER_BYTES = 32 * 1024
const PATIENCE = 5000
const SOCKETS = 16
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
}

/** See `Effects.network`. */
export async function listenForRedirect(port: number, path: string, onArrival: (address: URL) => RedirectPage): Promise<RedirectListener> {
  const server = createServer({ maxHeaderSize: HEADER_BYTES, headersTimeout: PATIENCE, requestTimeout: PATIENCE }, (request, reply) => {
    const page = answer(request, path, onArrival)
    reply.writeHead(page.status, HEADERS).end(page.html)
  })
  server.maxConnections = SOCKETS
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const message = `Port ${port} of this machine, where the browser is to come back, cannot be used. Is another sign-in going on?`
      reject(new SvcError('resource.conflict', message, { port }, { cause: error }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  server.on('error', () => undefined)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close() {
      server.close()
      server.closeIdleConnections()
    },
  }
}

function answer(request: IncomingMessage, path: string, onArrival: (address: URL) => RedirectPage): RedirectPage {
  const { method, url = '', headers, socket } = request
  const own = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`]
  if (!own.includes(headers.host ?? '')) return { status: 421, html: 'This is not the address of svc.' }
  const address = URL.canParse(url, `http://${headers.host}`) ? new URL(url, `http://${headers.host}`) : undefined
  if (address?.pathname !== path || !url.startsWith('/')) return { status: 404, html: 'There is nothing here.' }
  if (method !== 'GET') return { status: 405, html: 'Only a browser that was sent here is expected.' }
  return onArrival(address)
}
