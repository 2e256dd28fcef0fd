/** One question to a model, without tools and without a conversation. */
import type { ModelRef } from '../../protocol/message/message.js'
import { ZERO_USAGE } from '../../protocol/message/token-usage.js'
import type { ModelAnswer, ModelQuestion } from '../../ports/doors.js'
import type { ResolvedModel } from '../../ports/facades.js'

interface Asker {
  readonly sessionId: string
  readonly directory: string
  readonly ref: ModelRef
}

/** `push` hears the text, piece by piece. */
export async function askModel(
  { adapter, model, options }: ResolvedModel,
  { sessionId, directory, ref }: Asker,
  { messages, maxOutputTokens, temperature, push }: ModelQuestion & { push(delta: string): void },
  signal: AbortSignal,
): Promise<Pick<ModelAnswer, 'reason' | 'usage'>> {
  const most = model.limit.output > 0 ? Math.min(model.limit.output, maxOutputTokens) : maxOutputTokens
  let end: Pick<ModelAnswer, 'reason' | 'usage'> = { reason: 'other', usage: ZERO_USAGE }
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
      if (part.type === 'text') push(part.delta)
      if (part.type === 'finish') end = { reason: part.reason, usage: part.usage }
    },
    signal,
  )
  return end
}
