import { expect, test } from 'vitest'
import { ERRORS } from '../../src/protocol/errors.js'

test('the error codes are these, with this status and whether a retry can help', () => {
  expect(Object.entries(ERRORS).map(([code, { status, retryable }]) => [code, status, retryable])).toEqual([
    ['request.invalid', 400, false],
    ['request.invalid_json', 400, false],
    ['request.invalid_directory', 400, false],
    ['request.body_too_large', 400, false],
    ['request.unsupported_media_type', 415, false],
    ['request.unprocessable', 422, false],
    ['request.forbidden', 403, false],
    ['request.host_forbidden', 403, false],
    ['request.origin_forbidden', 403, false],
    ['config.invalid', 400, false],
    ['artifact.too_large', 400, false],
    ['auth.invalid_token', 401, false],
    ['auth.directory_forbidden', 403, false],
    ['auth.session_forbidden', 403, false],
    ['resource.not_found', 404, false],
    ['resource.conflict', 409, false],
    ['events.cursor_expired', 409, false],
    ['lifecycle.closed', 409, true],
    ['plugin.generation_closed', 409, true],
    ['management.revision_conflict', 409, false],
    ['quota.exceeded', 429, true],
    ['server.internal', 500, true],
    ['server.starting', 500, true],
    ['store.unavailable', 500, true],
    ['provider.failed', 500, true],
    ['feature.not_implemented', 501, false],
  ])
})
