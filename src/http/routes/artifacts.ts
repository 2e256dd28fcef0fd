/** Artifacts: bytes in, bytes out, and their metadata (http-contract §5.6; subsystems m; threat-model S3). */
import type { FastifyInstance } from 'fastify'
import type { Runtime } from '../../ports/facades.js'
import { artifactRoutes as contracts } from '../../protocol/system/artifact.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Admission } from '../admission/admission.js'
import type { Binder } from '../bind.js'
import { acceptBinaryBodies, boundedBody } from '../request/body.js'
import { attachment, filenameOf, matchesEtag } from '../answer/content.js'
import { JSON_TYPE } from '../answer/errors.js'
import { sendPieces } from '../streams/pieces.js'

/** `scope` is a Fastify instance of its own: here every content type is accepted and no body is read ahead. */
export function artifactRoutes(scope: FastifyInstance, bind: Binder, { artifacts }: Runtime, admission: Admission): void {
  acceptBinaryBodies(scope)
  bind.json(contracts.list, ({ caller, query }) => artifacts.list(caller, query.sessionId))
  bind.raw(contracts.create, async ({ caller, headers, query }, request, reply) => {
    const sessionId = headers['x-svc-session-id'] ?? query.sessionId
    if (sessionId !== undefined) admission.session(caller, sessionId)
    const artifact = await artifacts.create(caller, {
      mediaType: headers['content-type'] ?? 'application/octet-stream',
      filename: filenameOf(headers['x-svc-filename']) ?? query.filename,
      sessionId,
      bytes: boundedBody(
        request,
        LIMITS.artifacts.uploadBytes,
        (limit) => new SvcError('artifact.too_large', `An artifact may have at most ${limit} bytes.`, { limit }),
      ),
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
    await sendPieces(request, reply, bytes, {
      'content-type': artifact.mediaType,
      'content-length': String(artifact.size),
      'content-disposition': attachment(artifact.filename),
      'content-security-policy': "sandbox; default-src 'none'",
      etag,
    })
  })
  bind.json(contracts.delete, ({ caller, params }) => artifacts.delete(caller, params.artifact_id))
}
