/** The hooks of one request to a model: its messages, options and headers (plugin-protocol §5.1, §5.3). */
import { SvcError } from '../../protocol/errors.js'
import { HookedHeaders, HookedMessages, HookedOptions } from '../plugin/hook-values.js'
import { runHooks } from '../plugin/hooks.js'
import { fromProviderMessages, toProviderMessages } from '../plugin/provider-messages.js'
import type { RegistryView } from '../plugin/view.js'
import type { GenerateRequest } from '../provider/adapter.js'
import { publicRecord } from '../provider/secrets.js'
import type { SessionCore } from './core.js'
import type { RunScope } from './run-scope.js'

/**
 * The request after `chat.messages`, `chat.options` and `chat.headers`; itself when no plugin has such a hook.
 * A failed `chat.messages` rejects with `server.internal`; failures of the others are logged and have no effect.
 */
export async function hookRequest(
  core: Pick<SessionCore, 'effects'>,
  run: RunScope,
  view: RegistryView,
  request: GenerateRequest,
  signal: AbortSignal,
): Promise<GenerateRequest> {
  const names = ['chat.messages', 'chat.options', 'chat.headers'] as const
  if (names.every((name) => view.hooks(name).length === 0)) return request
  const context = {
    sessionId: request.sessionId,
    agent: run.target.agent.record.name,
    providerId: request.model.providerId,
    modelId: request.model.id,
  }
  const optional = async <Value>(value: Value, hooked: (value: Value) => Promise<Value>): Promise<Value> => {
    try {
      return await hooked(value)
    } catch (error) {
      signal.throwIfAborted()
      core.effects.log.warn('a hook failed and was ignored', { sessionId: request.sessionId, runId: run.runId, cause: String(error) })
      return value
    }
  }
  const messages = await hookMessages(view, context, request.messages, signal)
  const options = await optional(request.options, (value) => hookOptions(view, context, value, signal))
  const given = run.target.model.model.headers
  const headers = await optional(given, (value) => runHooks(view, 'chat.headers', context, value, { signal, accept: HookedHeaders }))
  return { ...request, messages, options, ...(headers === given ? {} : { headers }) }
}

type Context = Readonly<Record<string, unknown>>

async function hookMessages(
  view: RegistryView,
  context: Context,
  messages: GenerateRequest['messages'],
  signal: AbortSignal,
): Promise<GenerateRequest['messages']> {
  if (view.hooks('chat.messages').length === 0) return messages
  try {
    const hooked = await runHooks(view, 'chat.messages', context, toProviderMessages(messages), { signal, accept: HookedMessages })
    return fromProviderMessages(hooked, messages)
  } catch (error) {
    signal.throwIfAborted()
    throw new SvcError('server.internal', error instanceof Error ? error.message : String(error), {}, { cause: error })
  }
}

/** What is named like a secret, or holds something that is, stays behind and is put back. */
async function hookOptions(
  view: RegistryView,
  context: Context,
  options: GenerateRequest['options'],
  signal: AbortSignal,
): Promise<GenerateRequest['options']> {
  if (view.hooks('chat.options').length === 0) return options
  const harmless = publicRecord(options)
  const isShown = (key: string) => JSON.stringify(harmless[key]) === JSON.stringify(options[key])
  const entries = Object.entries(options)
  const shown = Object.fromEntries(entries.filter(([key]) => isShown(key)))
  const hidden = Object.fromEntries(entries.filter(([key]) => !isShown(key)))
  return { ...(await runHooks(view, 'chat.options', context, shown, { signal, accept: HookedOptions })), ...hidden }
}
