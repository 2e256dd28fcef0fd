/** Sessions as native plugins use them: as a local caller, through the same doors as HTTP. */
import { TRUSTED_CALLER } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Sessions } from '../../facades.js'
import type { SessionCore } from '../../session/core.js'
import { isOfCompaction } from '../../session/history/conversation.js'
import { createSession } from '../../session/state/records.js'
import type { SessionDoor, SessionOutcome } from './native-doors.js'
import { rowsChange } from './native-rows.js'

export function createSessionDoor(
  core: SessionCore,
  pluginId: string,
  sessions: Pick<Sessions, 'submitPrompt' | 'abort' | 'wait' | 'clearQueue'>,
): SessionDoor {
  return {
    create: (directory, request, extra, along) =>
      createSession(core, TRUSTED_CALLER, directory, request, {
        ...(extra !== undefined && { extra }),
        ...(along !== undefined && { along: (tx, session) => along(rowsChange(core.store, pluginId, tx), session) }),
      }),
    prompt: (sessionId, request) => sessions.submitPrompt(TRUSTED_CALLER, sessionId, request, 'prompt'),
    abort: (sessionId) => sessions.abort(sessionId),
    clearQueue: (sessionId) => void sessions.clearQueue(sessionId),
    get: (sessionId) => core.store.sessions.get(sessionId),
    isBusy: (sessionId) => !core.statuses.isIdle(sessionId),
    settled: (sessionId, signal) => sessions.wait(sessionId, signal),
    outcome: (sessionId) => outcomeOf(core, sessionId),
  }
}

function outcomeOf(core: SessionCore, sessionId: string): SessionOutcome {
  if (core.store.sessions.get(sessionId) === undefined) throw new SvcError('resource.not_found', `There is no session "${sessionId}".`)
  const last = core.store.messages.all(sessionId).findLast((message) => !isOfCompaction(message))?.info
  if (last?.role !== 'assistant') return { ok: false, error: 'the prompt was not answered' }
  return last.error === undefined ? { ok: true } : { ok: false, error: last.error.message }
}
