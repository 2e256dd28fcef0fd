/** One audit entry per authenticated request, refusals included (threat-model T8). */
import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Log } from '../../ports/effects.js'
import type { System } from '../../ports/facades.js'
import { ERRORS } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'

const PATH_LENGTH = 2048

export interface Audit {
  /** Records the request unless it was recorded before or nobody was authenticated. */
  record(request: FastifyRequest, status: number): void
  /** Records a request whose connection closed before its answer was sent. */
  recordLeft(request: FastifyRequest, raw: ServerResponse): void
}

export function createAudit(system: Pick<System, 'recordAudit'>, log: Log): Audit {
  function record(request: FastifyRequest, status: number): void {
    const { caller } = request
    if (caller === null || !caller.authenticated || request.audited) return
    request.audited = true
    try {
      system.recordAudit({ caller, method: request.method, path: auditPath(request.url), status })
    } catch (error) {
      log.error('audit entry lost', { requestId: request.id, error: messageOf(error) })
    }
  }

  return {
    record,
    recordLeft(request, raw) {
      if (!raw.writableFinished) record(request, raw.headersSent ? raw.statusCode : ERRORS['lifecycle.closed'].status)
    },
  }
}

/** The path without its query, bounded, in printable ASCII. */
export function auditPath(url: string): string {
  const query = url.indexOf('?')
  const path = (query < 0 ? url : url.slice(0, query)).slice(0, PATH_LENGTH)
  return path.replace(/[^\x21-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
