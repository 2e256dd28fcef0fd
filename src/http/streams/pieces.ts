/** Answers that are written piece by piece. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerHeaders } from '../request/headers.js'
import { cutWhenUnread } from '../answer/unread.js'
import { untilWritable } from './writable.js'

/** Sends an answer as fast as the peer takes it; the first piece is made before the head, so that a missing file is still an error answer. */
export async function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: AsyncIterable<Uint8Array | string>,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { raw } = reply
  const iterator = pieces[Symbol.asyncIterator]()
  let step = await iterator.next()
  reply.hijack()
  try {
    cutWhenUnread(raw)
    raw.writeHead(200, { ...answerHeaders(request.id, request.allowedOrigin), ...headers })
    while (step.done !== true && !raw.destroyed) {
      if (!raw.write(step.value)) await untilWritable(raw)
      step = await iterator.next()
    }
    raw.end()
  } catch {
    // The head has left: a connection that breaks off before the announced length is the only way left to say it.
    raw.destroy()
  } finally {
    await iterator.return?.()
  }
}
