/** What each method with one answer does with the plugin (plugin-protocol §4.6, §4.7). */
import type { MediaRequest, PromptRequest, RouteRequest, ServiceRequest } from '../../protocol/plugin/plugin-requests.js'
import { recordOf } from './frames.js'
import type { AnyRecord, CallContext, PluginClient } from './host-types.js'
import type { Plugin, PluginServices, ToolResult } from './plugin-types.js'
import type { PluginProvider } from './provider-types.js'

interface MethodCall {
  readonly plugin: Plugin
  readonly params: AnyRecord
  readonly context: CallContext
  readonly client: PluginClient | undefined
  /** Tells the host how far this call is. */
  readonly progress: (metadata: AnyRecord) => void
}

type Method = (call: MethodCall) => unknown

const SERVICES: Readonly<Record<string, Exclude<keyof PluginServices, 'providers'>>> = {
  'agent.list': 'agents',
  'command.list': 'commands',
  'skill.list': 'skills',
  'systemContext.sections': 'systemContext',
  'config.load': 'config',
  'prompt.render': 'prompts',
}

const METHODS: Readonly<Record<string, Method>> = {
  'tool.invoke': invokeTool,
  'hook.invoke': invokeHook,
  'provider.metadata': ({ plugin, params, context }) =>
    providerOf(plugin, params).metadata?.(recordOf(params['model']) as { providerId: string; modelId: string }, context) ?? {},
  'provider.auth': ({ plugin, params, context }) => providerOf(plugin, params).auth?.(String(params['providerId']), context) ?? null,
  'provider.route': ({ plugin, params, context }) => {
    const provider = providerOf(plugin, params)
    if (provider.route === undefined) throw new Error(`provider ${provider.descriptor.id} has no administration`)
    return provider.route(recordOf(params['request']), context)
  },
  'provider.media': ({ plugin, params, context }) => {
    const provider = providerOf(plugin, params)
    if (provider.media === undefined) throw new Error(`provider ${provider.descriptor.id} makes no media`)
    return provider.media(params as unknown as MediaRequest, context)
  },
  'route.handle': ({ plugin, params, context }) => {
    const route = plugin.routes?.find(({ descriptor }) => descriptor.id === params['routeId'])
    if (route === undefined) throw new Error(`unknown route ${String(params['routeId'])}`)
    return route.handle(params['request'] as RouteRequest, context)
  },
  ...Object.fromEntries(Object.entries(SERVICES).map(([method, kind]) => [method, serviceMethod(kind)])),
}

/** What performs a method; undefined when a plugin does not know it. */
export function methodFor(name: string): Method | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
}

/** The provider a call names. */
export function providerOf(plugin: Plugin, params: AnyRecord): PluginProvider {
  const provider = plugin.services?.providers?.find(({ descriptor }) => descriptor.id === params['serviceId'])
  if (provider === undefined) throw new Error(`unknown provider ${String(params['serviceId'])}`)
  return provider
}

async function invokeTool({ plugin, params, context, client, progress }: MethodCall): Promise<unknown> {
  const tool = plugin.tools?.find(({ id }) => id === params['tool'])
  if (tool === undefined) throw new Error(`unknown tool ${String(params['tool'])}`)
  const { directory, sessionId, messageId, callId, traceparent } = params
  const answer = await tool.execute(params['input'], {
    ...context,
    directory: String(directory),
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
    ...(typeof messageId === 'string' ? { messageId } : {}),
    ...(typeof callId === 'string' ? { callId } : {}),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(client === undefined ? {} : { client }),
    progress,
  })
  return typeof answer === 'string' ? { output: answer } : toolReply(tool.id, answer)
}

/** Text stays text; other output becomes compact JSON. Throws for what is no result: it would reach the model as an empty text. */
function toolReply(id: string, answer: ToolResult | undefined): AnyRecord {
  const given: unknown = answer ?? { output: '' }
  if (typeof given !== 'object' || given === null || !('output' in given)) {
    const what = JSON.stringify(given)?.slice(0, 100) ?? `a ${typeof given}`
    throw new TypeError(`the tool "${id}" returned ${what}, which is no result: return a text, or an object with "output"`)
  }
  const { output, attachments, ...rest } = given as ToolResult
  return {
    ...rest,
    output: typeof output === 'string' ? output : (JSON.stringify(output) ?? ''),
    ...(attachments === undefined ? {} : { attachments: attachments.map(encodedAttachment) }),
  }
}

function encodedAttachment(file: NonNullable<ToolResult['attachments']>[number]): AnyRecord {
  if (!('data' in file)) return { ...file }
  const { data, ...rest } = file
  return { ...rest, dataBase64: Buffer.from(data).toString('base64') }
}

/** A hook nobody declared leaves the value as it is. */
function invokeHook({ plugin, params, context }: MethodCall): unknown {
  const name = String(params['hook'])
  const hooks = plugin.hooks ?? {}
  const handler = Object.hasOwn(hooks, name) ? hooks[name] : undefined
  return handler === undefined ? params['value'] : handler(recordOf(params['context']), params['value'], context)
}

function serviceMethod(kind: Exclude<keyof PluginServices, 'providers'>): Method {
  return ({ plugin, params, context }) => {
    const declared: readonly { readonly id: string; handler(request: ServiceRequest & PromptRequest, context: CallContext): unknown }[] =
      plugin.services?.[kind] ?? []
    const service = declared.find(({ id }) => id === params['serviceId'])
    if (service === undefined) throw new Error(`unknown ${kind} service ${String(params['serviceId'])}`)
    return service.handler(params['request'] as ServiceRequest & PromptRequest, context)
  }
}
