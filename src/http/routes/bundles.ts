/** Export and import of sessions: bodies of any size, passed on as they come (sessions-events §2.15). */
import type { FastifyInstance } from 'fastify'
import type { Runtime } from '../../ports/facades.js'
import { LIMITS } from '../../protocol/limits.js'
import { SvcError } from '../../protocol/errors.js'
import { bundleRoutes as contracts } from '../../protocol/session/bundle.js'
import type { Admission } from '../admission/admission.js'
import type { Binder } from '../bind.js'
import { JSON_TYPE } from '../answer/errors.js'
import { acceptBinaryBodies, boundedBody } from '../request/body.js'
import { sendPieces } from '../streams/pieces.js'
import { filterDirectory } from './sessions.js'

export function exportRoutes(bind: Binder, { sessions }: Runtime, admission: Admission): void {
  bind.raw(contracts.export, async ({ caller, body }, request, reply) => {
    const workspaceRoot = (await filterDirectory(admission, caller, body.workspaceRoot)) ?? body.workspaceRoot
    await sendPieces(request, reply, sessions.export(caller, { ...body, workspaceRoot }), { 'content-type': JSON_TYPE })
  })
}

/** `scope` is a Fastify instance of its own: no body is read ahead. */
export function importRoutes(scope: FastifyInstance, bind: Binder, { sessions }: Runtime, admission: Admission): void {
  acceptBinaryBodies(scope)
  bind.raw(contracts.import, async ({ caller, headers }, request, reply) => {
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
      throw new SvcError('request.unsupported_media_type', 'The request body must be sent as application/json.')
    }
    const chunks = boundedBody(
      request,
      LIMITS.bundles.bytes,
      (limit) => new SvcError('request.invalid', `A bundle has at most ${limit} bytes.`, { limit }),
    )
    const sessionId = await sessions.import(caller, chunks, (directory) => admission.directory(caller, directory))
    reply.code(contracts.import.success.status).type(JSON_TYPE).send(JSON.stringify({ sessionId }))
  })
}
