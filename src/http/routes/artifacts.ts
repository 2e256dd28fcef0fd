/** Artifacts: bytes in, bytes out, and their metadata (http-contract §5.6; subsystems m; threat-model S3). */
import { cutWhenUnread } from '../unread.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Runtime } from '../../actors/facades.js'
import { artifactRoutes as contracts } from '../../protocol/system/artifact.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Admission } from '../admission/admission.js'
import type { Binder } from '../bind.js'
import { acceptBinaryBodies } from '../request/body.js'
import { attachment, filenameOf, matchesEtag } from '../content.js'
import { JSON_TYPE } from '../errors.js'
import { answerHeaders } from '../request/headers.js'
import { untilWritable } from '../streams/writable.js'

/** `scope` is a Fastify instance of its own: here every content type is accepted and no body is read ahead. */
export function artifactRoutes(scope: FastifyInstance, bind: Binder, { artifacts }: Runtime, admission: Admission): void {
  acceptBinaryBodies(scope)
  bind.json(contracts.list, ({ caller, query }) => artifacts.list(caller, query.sessionId))
  bind.raw(contracts.create, async ({ caller, headers }, request, reply) => {
    const sessionId = headers['x-svc-session-id']
    if (sessionId !== undefined) admission.session(caller, sessionId)
    const artifact = await artifacts.create(caller, {
      mediaType: headers['content-type'] ?? 'application/octet-stream',
      filename: filenameOf(headers['x-svc-filename']),
      sessionId,
      bytes: bounded(request),
    })
    reply.code(contracts.create.success.status).type(JSON_TYPE).send(JSON.stringify(artifact))
  })
  bind.json(contracts.get, ({ caller, params }) => artifacts.get(caller, params.artifact_id))
  bind.raw(contracts.content, async ({ caller, params }, request, reply) => {
    const { artifact, bytes } = artifacts.content(caller, params.artifact_id)
    const etag = `"${artifact.sha256}"`
    if (matchesEtag(request.headers['if-none-match'], etag)) {
      reply.code(304).header('etag', etag).send()
      return
    }
    await sendBytes(request, reply, bytes, {
      'content-type': artifact.mediaType,
      'content-length': String(artifact.size),
      'content-disposition': attachment(artifact.filename),
      'content-security-policy': "sandbox; default-src 'none'",
      etag,
    })
  })
  bind.json(contracts.delete, ({ caller, params }) => artifacts.delete(caller, params.artifact_id))
}

/** The body of a request as it arrives; `artifact.too_large` at the first byte over the limit. */
async function* bounded({ raw, headers }: FastifyRequest): AsyncGenerator<Uint8Array> {
  const limit = LIMITS.artifacts.uploadBytes
  const tooLarge = () => new SvcError('artifact.too_large', `An artifact may have at most ${limit} bytes.`, { limit })
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge()
  let size = 0
  // Leaving early must not destroy the connection: the refusal still has to be sent on it.
  const chunks: AsyncIterable<Uint8Array> = raw.iterator({ destroyOnReturn: false })
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge()
    yield chunk
  }
}

/** Sends bytes as fast as the peer takes them; the first chunk is read before the head, so that a missing file is still an error answer. */
async function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { raw } = reply
  const iterator = bytes[Symbol.asyncIterator]()
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
