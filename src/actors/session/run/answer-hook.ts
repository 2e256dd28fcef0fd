/**
 * The text of an answer past the hooks `response.text`, once the model has ended it and before it is closed (plugin-protocol §5.3).
 *
 * I1 All of them together have `LIMITS.pluginResponses.delay`; what they do not answer by then is not waited for.
 * I2 A chain that fails or takes too long changes nothing: the text stays as the model wrote it.
 * I3 Calls of the step go on meanwhile: they were accepted as they came.
 */
import type { Stopping } from '../../../kernel/stopping.js'
import { timeLimit } from '../../../kernel/patience.js'
import { LIMITS } from '../../../protocol/limits.js'
import { RESPONSE_HOOK } from '../../../ports/contributions.js'
import { HookedAnswer } from '../../plugin/calls/hook-values.js'
import { runHooks } from '../../plugin/calls/hooks.js'
import { messageOf } from '../../../protocol/message-of.js'
import type { Rows } from '../state/core.js'
import type { StepScope } from './run-scope.js'

/** Nothing to wait for without hooks. */
export function hookAnswer(
  core: Pick<Rows, 'effects'>,
  { world, recorder }: StepScope,
  stopping: Pick<Stopping, 'signal'>,
): Promise<void> | undefined {
  const texts = world.view.hooks(RESPONSE_HOOK).length === 0 ? [] : recorder.texts().filter(({ text }) => text !== '')
  return texts.length === 0 ? undefined : hookTexts(core, { world, recorder }, texts, stopping.signal)
}

async function hookTexts(
  { effects }: Pick<Rows, 'effects'>,
  { world: { view, target }, recorder }: Pick<StepScope, 'world' | 'recorder'>,
  texts: ReturnType<StepScope['recorder']['texts']>,
  signal: AbortSignal,
): Promise<void> {
  const { sessionId } = recorder.info()
  const { providerId, id: modelId } = target.model.ref
  const limit = timeLimit(effects.clock, LIMITS.pluginResponses.delay, 'it took too long')
  const how = { signal: AbortSignal.any([signal, limit.signal]), accept: (answer: unknown) => HookedAnswer.parse(answer) }
  try {
    for (const { messageId, partId, text } of texts) {
      const context = { sessionId, messageId, partId, agent: target.agent.record.name, providerId, modelId }
      try {
        const changed = await runHooks(view, RESPONSE_HOOK, context, text, how)
        if (changed !== text) recorder.replaceText({ partId, length: text.length, text: changed })
      } catch (error) {
        signal.throwIfAborted()
        effects.log.warn('a hook failed and was ignored', { sessionId, messageId, hook: RESPONSE_HOOK, cause: messageOf(error) }) // I2
      }
    }
  } finally {
    limit.clear()
  }
}
