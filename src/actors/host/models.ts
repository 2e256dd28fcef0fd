/** The model of a session, as native plugins may ask it: one question, one answer, nothing of it in the conversation. */
import { LIMITS } from '../../protocol/limits.js'
import { askModel } from './model-question.js'
import { type Rows, sessionOrThrow, type Sources } from '../session/state/core.js'
import { wellFormed } from '../../protocol/text/well-formed.js'
import type { ModelDoor } from '../../ports/doors.js'

export function createModelDoor(core: Rows & Sources): ModelDoor {
  return {
    async ask(sessionId, question, signal) {
      const session = sessionOrThrow(core, sessionId)
      const { directory, workspaceId } = session
      const ref = session.model ?? (await core.providers.defaultModel(directory, workspaceId, sessionId))
      const resolved = await core.providers.resolve(directory, ref, workspaceId, sessionId)
      let text = ''
      const enough = new AbortController()
      const push = (delta: string) => {
        text += delta
        if (text.length > LIMITS.mcp.samplingText) enough.abort(new Error('the model does not end its answer'))
      }
      const end = await askModel(resolved, { sessionId, directory, ref }, { ...question, push }, AbortSignal.any([signal, enough.signal]))
      return { model: `${ref.providerId}/${ref.id}`, text: wellFormed(text), ...end }
    },
  }
}
