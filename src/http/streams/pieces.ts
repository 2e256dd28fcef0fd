/** Answers that are written piece by piece. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nextTurn } from '../../kernel/pause.js'
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
      for (const part of partsOf(step.value)) {
        if (raw.destroyed) break
        if (!raw.write(part)) await untilWritable(raw)
        else if (part !== step.value) await nextTurn()
      }
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

/** Characters that are encoded and written in one turn. */
const WRITTEN = 512 * 1024

/** A long text in several parts, none of which ends inside of a character. */
function* partsOf(piece: Uint8Array | string): Generator<Uint8Array | string, void> {
  if (typeof piece !== 'string' || piece.length <= WRITTEN) {
    yield piece
    return
  }
  for (let from = 0; from < piece.length; ) {
    const last = piece.charCodeAt(from + WRITTEN - 1)
    const to = from + WRITTEN - (last >= 0xd800 && last <= 0xdbff ? 1 : 0)
    yield piece.slice(from, to)
    from = to
  }
}
