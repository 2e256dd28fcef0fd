/** The hooks of one request to a model: its messages, options and headers (plugin-protocol §5.1, choice 26). */
import type { Stopping } from '../../../../kernel/stopping.js'
import type { HookFailure } from '../../../../protocol/plugin/hook-failure.js'
import { HookedHeaders, HookedMessages, HookedOptions } from '../../../plugin/calls/hook-values.js'
import { tryHooks } from '../../../plugin/calls/hooks.js'
import { fromProviderMessages, toProviderMessages } from '../../../plugin/calls/provider-messages.js'
import type { RegistryView } from '../../../../ports/view.js'
import type { GenerateRequest } from '../../../../ports/provider-adapter.js'
import { publicRecord } from '../../../../protocol/text/secrets.js'
import type { World } from '../world.js'

export interface HookedRequest {
  readonly request: GenerateRequest
  readonly failures: readonly HookFailure[]
}

/**
 * The request after `chat.messages`, `chat.options` and `chat.headers`; itself when no plugin has such a hook. A hook
 * that fails changes nothing. Rejects when `signal` aborts.
 */
export function hookRequest(
  world: Pick<World, 'view' | 'target'>,
  request: GenerateRequest,
  stopping: Pick<Stopping, 'signal'>,
): HookedRequest | Promise<HookedRequest> {
  const names = ['chat.messages', 'chat.options', 'chat.headers'] as const
  if (names.every((name) => world.view.hooks(name).length === 0)) return { request, failures: [] }
  return requestPastHooks(world, request, stopping.signal)
}

async function requestPastHooks(
  { view, target }: Pick<World, 'view' | 'target'>,
  request: GenerateRequest,
  signal: AbortSignal,
): Promise<HookedRequest> {
  const context = {
    sessionId: request.sessionId,
    agent: target.agent.record.name,
    providerId: request.model.providerId,
    modelId: request.model.id,
  }
  const messages = await hookMessages(view, context, request.messages, signal)
  const options = await hookOptions(view, context, request.options, signal)
  const given = target.model.model.headers
  const headers = await tryHooks(view, 'chat.headers', context, given, { signal, accept: HookedHeaders })
  return {
    request: { ...request, messages: messages.value, options: options.value, ...(headers.value !== given && { headers: headers.value }) },
    failures: [messages, options, headers].flatMap(({ failure }) => failure ?? []),
  }
}

type Context = Readonly<Record<string, unknown>>

interface Hooked<Value> {
  readonly value: Value
  readonly failure?: HookFailure
}

async function hookMessages(
  view: RegistryView,
  context: Context,
  messages: GenerateRequest['messages'],
  signal: AbortSignal,
): Promise<Hooked<GenerateRequest['messages']>> {
  if (view.hooks('chat.messages').length === 0) return { value: messages }
  const given = toProviderMessages(messages)
  const { value, failure } = await tryHooks(view, 'chat.messages', context, given, { signal, accept: HookedMessages })
  return failure === undefined ? { value: fromProviderMessages(value, messages) } : { value: messages, failure }
}

/** What is named like a secret, or holds something that is, stays behind and is put back. */
async function hookOptions(
  view: RegistryView,
  context: Context,
  options: GenerateRequest['options'],
  signal: AbortSignal,
): Promise<Hooked<GenerateRequest['options']>> {
  if (view.hooks('chat.options').length === 0) return { value: options }
  const harmless = publicRecord(options)
  const isShown = (key: string) => JSON.stringify(harmless[key]) === JSON.stringify(options[key])
  const entries = Object.entries(options)
  const shown = Object.fromEntries(entries.filter(([key]) => isShown(key)))
  const hidden = Object.fromEntries(entries.filter(([key]) => !isShown(key)))
  const { value, failure } = await tryHooks(view, 'chat.options', context, shown, { signal, accept: HookedOptions })
  return failure === undefined ? { value: { ...value, ...hidden } } : { value: options, failure }
}
