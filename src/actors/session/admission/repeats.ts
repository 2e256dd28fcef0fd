/** Prompts that were sent before (sessions-events §4.4): one message id is one message. */
import { isDeepStrictEqual } from 'node:util'
import { SvcError } from '../../../protocol/errors.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { QueueRow } from '../../../store/store.js'
import type { Rows } from '../state/core.js'

/** What is known by the message id of a prompt: the same prompt, which was taken or is held. */
type Repeat = { readonly type: 'taken' } | { readonly type: 'held'; readonly row: QueueRow }

const TAKEN: Repeat = { type: 'taken' }

/** Undefined = it is a new one. Throws `resource.conflict` for other content; where a row is held, its delivery stays what it is. */
export function repeatOf(
  core: Pick<Rows, 'store'>,
  sessionId: string,
  prompt: QueuedPrompt,
  delivery: QueueRow['delivery'],
): Repeat | undefined {
  const conflict = () =>
    new SvcError('resource.conflict', `The message id "${prompt.messageId}" was used before with other content.`, {
      messageId: prompt.messageId,
    })
  const queued = core.store.queue.byMessageId(prompt.messageId)
  if (queued !== undefined) {
    if (queued.sessionId !== sessionId) throw conflict()
    if (queued.held && isDeepStrictEqual(contentOf(queued.request), contentOf(prompt))) return { type: 'held', row: queued }
    if (queued.held || queued.delivery !== delivery || !isDeepStrictEqual(plain(queued.request), plain(prompt))) throw conflict()
    return TAKEN
  }
  const stored = core.store.messages.get(prompt.messageId)
  if (stored === undefined) return undefined
  const { info } = stored
  if (info.role !== 'user' || info.sessionId !== sessionId) throw conflict()
  const parts = stored.parts.map(({ id: _id, sessionId: _session, messageId: _message, ...content }) => content)
  const agrees =
    isDeepStrictEqual(plain(parts), plain(prompt.parts)) &&
    info.system === prompt.system &&
    info.author === prompt.author &&
    isDeepStrictEqual(plain(info.tools), plain(prompt.tools)) &&
    (prompt.agent === undefined || prompt.agent === info.agent) &&
    (prompt.model === undefined || isDeepStrictEqual(plain(prompt.model), plain(info.model)))
  if (!agrees) throw conflict()
  return TAKEN
}

/** A value as it would be read back, so that absent and undefined keys compare equal. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** What a person has written or seen of a prompt: not who sent it, nor why its calls are asked for. */
function contentOf({ author: _author, calls = [], ...prompt }: QueuedPrompt): unknown {
  return plain({ ...prompt, calls: calls.map(({ tool, input }) => ({ tool, input })) })
}
