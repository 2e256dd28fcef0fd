/** Request bodies: JSON for most operations, an unread stream for uploads, 415 for everything else (threat-model H6). */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { hasBody } from './headers.js'
import { parseJsonBody, scanJsonBody } from './json.js'

/** JSON is parsed; a request without a body may carry any content type; other bodies are refused. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (hasBody(request.headers) && !isUtf8(request.headers['content-type'] ?? '')) {
      done(new SvcError('request.unsupported_media_type', 'The request body must be sent as UTF-8.'))
      return
    }
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      done(new SvcError('request.unsupported_media_type', 'Compressed request bodies are not supported.'))
      return
    }
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const attempt = (step: () => void) => {
      try {
        step()
      } catch (error) {
        done(error instanceof Error ? error : new SvcError('request.invalid_json'))
      }
    }
    attempt(() => {
      scanJsonBody(bytes)
      // A large body is scanned in one turn and parsed in another; others are answered in between.
      if (bytes.length <= LIMITS.http.largeAnswer) done(null, parseJsonBody(bytes))
      else setImmediate(() => attempt(() => done(null, parseJsonBody(bytes))))
    })
  })
  app.addContentTypeParser('*', (request, _payload, done) => {
    if (!hasBody(request.headers)) done(null, undefined)
    else done(new SvcError('request.unsupported_media_type', 'The request body must be sent as application/json.'))
  })
}

// A parameter of a media type: its name, and its value as a token or between quotes.
const PARAMETER = /;\s*([^\s;=]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g

/** Whether a media type names UTF-8, or no charset at all. */
function isUtf8(mediaType: string): boolean {
  const charsets = [...mediaType.matchAll(PARAMETER)].filter(([, name = '']) => name.toLowerCase() === 'charset')
  return charsets.every(([, , value = '']) => /^"?utf-?8"?$/i.test(value.trim()))
}

/** Every media type is accepted and nothing is read: the handler takes the bytes from the request. */
export function acceptBinaryBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(null, undefined)
  })
  // The handler has been given the header; what it says decides nothing about reading the body.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    delete request.headers['content-type']
    done(null, payload)
  })
}

/** The body of a request as it arrives; what `tooLarge` makes is thrown at the first byte over the limit. */
export async function* boundedBody(
  { raw, headers }: FastifyRequest,
  limit: number,
  tooLarge: (limit: number) => SvcError,
): AsyncGenerator<Uint8Array> {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  let size = 0
  // Leaving early must not destroy the connection: the refusal still has to be sent on it.
  const chunks: AsyncIterable<Uint8Array> = raw.iterator({ destroyOnReturn: false })
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    yield chunk
  }
}
