/**
 * Event streams of workers, which are many small pieces: their bytes go on as they come.
 *
 * I1 The head of an answer is read, and loses what is of one connection; its body is not taken apart, so that it keeps its framing. Both
 *    connections are of this stream alone, and the end of one is the end of the other: what is cut off by the worker is without its last
 *    piece, and the caller can tell.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type NetConnectOpts } from 'node:net'
import { reading } from '../inside/forward.js'
import { forwarded } from './headers.js'

export interface StreamOptions {
  readonly path: string
  /** Name and value, one after the other. */
  readonly headers: readonly string[]
  readonly place: { readonly host: string; readonly port: number }
  /** Nothing was answered. */
  readonly onLost: () => void
}

const END = '\r\n\r\n'
const LONGEST = 64 * 1024
const EVENTS = /\/events(?:\?|$)/

/** Whether a stream may be what is answered, to a caller that understands its framing. */
export function asksForStream({ method, httpVersion, headers, url = '' }: IncomingMessage): boolean {
  const isWanted = headers.accept?.includes('text/event-stream') === true || EVENTS.test(url)
  return method === 'GET' && httpVersion === '1.1' && isWanted && headers['content-length'] === undefined
}

/** Asks a worker, and answers with what it answers. The caller ends it with its connection; the answer ends it from here. */
export function passStream({ socket }: IncomingMessage, response: ServerResponse, { path, headers, place, onLost }: StreamOptions) {
  let head: Buffer | undefined = Buffer.alloc(0)

  const told = (bytes: Buffer): boolean => {
    let rest: Buffer | undefined = bytes
    if (head !== undefined) {
      head = Buffer.concat([head, bytes])
      const read = readHead(head)
      if (read === 'more') return true
      if (read === undefined) {
        upstream.destroy(new Error('not an answer'))
        return false
      }
      head = undefined
      socket.write(read.head, 'latin1')
      rest = read.rest
    }
    if (socket.write(rest)) return true
    socket.once('drain', () => upstream.resume())
    return false
  }

  const upstream = connect({ ...place, noDelay: true, ...reading(told) } as NetConnectOpts)
  response.once('close', () => upstream.destroy())
  upstream.on('error', () => undefined)
  upstream.once('end', () => {
    if (head === undefined) socket.end()
  })
  upstream.once('close', (hadError) => {
    if (socket.destroyed) return
    if (head !== undefined) return onLost()
    if (hadError) socket.destroy()
    else socket.end()
  })
  upstream.write(`GET ${path} HTTP/1.1\r\n${linesOf([...headers, 'connection', 'close'])}\r\n`, 'latin1')
  return upstream
}

function linesOf(headers: readonly string[]): string {
  return Array.from({ length: headers.length / 2 }, (_, index) => `${headers[2 * index]}: ${headers[2 * index + 1]}\r\n`).join('')
}

/** What the caller is told first, and what of the body came with it. Undefined for what is no answer. */
function readHead(bytes: Buffer): { readonly head: string; readonly rest: Buffer } | 'more' | undefined {
  const end = bytes.indexOf(END)
  if (end < 0) return bytes.length > LONGEST ? undefined : 'more'
  const rest = bytes.subarray(end + END.length)
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1]
  if (status === undefined || status === '101') return undefined
  if (status.startsWith('1')) return readHead(rest)
  const pairs = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim()]
  })
  const of = (wanted: string) => pairs.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
  const kept = forwarded({ rawHeaders: pairs.flat(), headers: { connection: of('connection').join(',') } })
  const framing = of('transfer-encoding').flatMap((value) => ['transfer-encoding', value])
  return { head: `${first}\r\n${linesOf([...kept, ...framing, 'connection', 'close'])}\r\n`, rest }
}
