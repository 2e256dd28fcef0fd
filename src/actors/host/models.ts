/** The model of a session, as native plugins may ask it: one question, one answer, nothing of it in the conversation. */
import { LIMITS } from '../../protocol/limits.js'
import { type Rows, sessionOrThrow, type Sources } from '../session/state/core.js'
import { wellFormed } from '../../protocol/text/well-formed.js'
import { ZERO_USAGE } from '../../protocol/message/token-usage.js'
import type { ModelAnswer, ModelDoor } from '../../ports/doors.js'

export function createModelDoor(core: Rows & Sources): ModelDoor {
  return {
    async ask(sessionId, { messages, maxOutputTokens, temperature }, signal) {
      const session = sessionOrThrow(core, sessionId)
      const { directory, workspaceId } = session
      const ref = session.model ?? (await core.providers.defaultModel(directory, workspaceId, sessionId))
      const { adapter, model, options } = await core.providers.resolve(directory, ref, workspaceId, sessionId)
      const most = model.limit.output > 0 ? Math.min(model.limit.output, maxOutputTokens) : maxOutputTokens
      let text = ''
      let end: Pick<ModelAnswer, 'reason' | 'usage'> = { reason: 'other', usage: ZERO_USAGE }
      const enough = new AbortController()
      await adapter.generate(
        {
          sessionId,
          directory,
          model: ref,
          messages,
          tools: [],
          maxOutputTokens: most,
          options,
          ...(temperature !== undefined && { temperature }),
        },
        (part) => {
          if (part.type === 'text') text += part.delta
          if (part.type === 'finish') end = { reason: part.reason, usage: part.usage }
          if (text.length > LIMITS.mcp.samplingText) enough.abort(new Error('the model does not end its answer'))
        },
        AbortSignal.any([signal, enough.signal]),
      )
      return { model: `${ref.providerId}/${ref.id}`, text: wellFormed(text), ...end }
    },
  }
}
