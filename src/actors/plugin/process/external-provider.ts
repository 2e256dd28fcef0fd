/** Model providers of plugin processes (plugin-protocol §7). */
import { watchSilence } from '../../../kernel/silence.js'
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import { SvcError } from '../../../protocol/errors.js'
import type { ProviderDeclaration } from '../../../protocol/plugin/plugin-frame.js'
import type { GenerationRequest } from '../../../protocol/plugin/plugin-requests.js'
import type { PluginMethod } from '../../../protocol/plugin/plugin-methods.js'
import { RouteResponse } from '../../../protocol/plugin/plugin-services.js'
import type { Clock } from '../../../ports/effects.js'
import { type GenerateRequest, type ProviderAdapter, ProviderError } from '../../../ports/provider-adapter.js'
import { parseAnswer } from './external-services.js'
import { isFrameTooLarge } from '../link/frame-text.js'
import { isFields } from '../link/initialize.js'
import type { ContributionLink } from './contribution-link.js'
import type { ProviderAdministration, ProviderContribution, ProviderSettings } from '../../../ports/plugin.js'
import { reasonOf } from '../link/pending-calls.js'
import { toProviderMessages } from '../calls/provider-messages.js'
import { createStreamReader } from './provider-stream.js'
import type { PluginStream } from '../link/streams.js'
import { messageOf } from '../../../protocol/message-of.js'

/** A provider with the methods besides generation; `administration` and `media` are there when they are declared. */
export interface ExternalProvider extends ProviderContribution {
  readonly priority: number
  metadata(model: UserModel, signal?: AbortSignal): Promise<unknown>
}

interface UserModel {
  readonly providerId: string
  readonly modelId: string
  readonly connectionId?: string
  readonly variant?: string
}

interface ProviderRouteRequest {
  readonly action: string
  readonly providerId: string | null
  readonly connectionId: string | null
  readonly tenantId: string | null
  readonly workspaceId: string | null
  readonly hosted: boolean
  readonly body: unknown
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const Media = z.looseObject({
  mime: z.string(),
  filename: z.string(),
  dataBase64: z
    .string()
    .refine((text) => BASE64.test(text), 'must be base64 with padding')
    .refine((text) => Buffer.byteLength(text, 'base64') <= LIMITS.plugins.mediaBytes, `must be at most ${LIMITS.plugins.mediaBytes} bytes`),
  revisedPrompt: z.string().nullish(),
})
const Table = z.record(z.string(), z.unknown())
const { firstByte, idle, trailer } = LIMITS.provider

interface ProviderParts {
  readonly pluginId: string
  readonly link: ContributionLink
  readonly clock: Clock
}

export function externalProvider(declared: ProviderDeclaration, { pluginId, link, clock }: ProviderParts): ExternalProvider {
  const { descriptor, priority } = declared
  const { id } = descriptor
  const call = (method: PluginMethod, params: object, signal?: AbortSignal) => link.call(method, { serviceId: id, ...params }, { signal })
  return {
    npm: [id],
    builtin: {
      id,
      name: descriptor.name ?? id,
      models: descriptor.models.map((model) => ({ id: model, name: model, limit: { context: 0, output: 0 }, reasoning: false })),
    },
    priority,
    create: (settings) =>
      createAdapter({ serviceId: id, link, clock, settings: declared.administration ? settings : { ...settings, apiKey: noKey } }),
    metadata: async (model, signal) => parseAnswer('provider.metadata', Table, (await call('provider.metadata', { model }, signal)) ?? {}),
    ...(declared.administration && { administration: administrationOf({ pluginId, providerId: id, link }) }),
    ...(declared.media && {
      media: async (request, signal) => parseAnswer('provider.media', Media, await call('provider.media', request, signal)),
    }),
  }
}

/** Only what its own sign-in brought is handed to a plugin. */
const noKey = () => undefined

/** What somebody does to sign in is the plugin's own: it is asked for the ways, and told what was chosen and entered (§7.2). */
function administrationOf({ pluginId, providerId, link }: AdministrationParts): ProviderAdministration {
  const none = { connectionId: null, tenantId: null, workspaceId: null, hosted: false }
  return {
    keeper: `plugin:${pluginId}`,
    async ask(action, body, options) {
      const request: ProviderRouteRequest = { action, providerId, ...none, body }
      const answer = parseAnswer(
        'provider.route',
        RouteResponse,
        await link.call('provider.route', { serviceId: providerId, request }, options),
      )
      if (answer.status < 400) return answer.body
      const said = isFields(answer.body) ? answer.body['message'] : answer.body
      const why = typeof said === 'string' && said !== '' ? said.slice(0, SAID) : `status ${answer.status}`
      throw new SvcError('request.unprocessable', `Provider "${providerId}" refused: ${why}`, { providerId })
    },
    credential: async (signal) =>
      parseAnswer(
        'provider.auth',
        Table.nullable(),
        await link.call('provider.auth', { serviceId: providerId, providerId }, { ...(signal && { signal }) }),
      ),
  }
}

/** Characters of why a plugin refused. */
const SAID = 500

interface AdministrationParts {
  readonly pluginId: string
  readonly providerId: string
  readonly link: ContributionLink
}

interface AdapterParts {
  readonly serviceId: string
  readonly link: ContributionLink
  readonly clock: Clock
  readonly settings: ProviderSettings
}

function createAdapter({ serviceId, link, clock, settings }: AdapterParts): ProviderAdapter {
  return {
    async generate(request, push, signal) {
      signal.throwIfAborted()
      const sent = requestOf(settings, request)
      const reader = createStreamReader(settings.providerId, (part) => {
        if (!signal.aborted) push(part)
      })
      let stream: PluginStream | undefined
      const silence = watchSilence(clock, (ms) => {
        if (reader.isFinished) stream?.cancel()
        else stream?.fail(new ProviderError(`Provider "${settings.providerId}" was silent for ${ms} ms.`, { retryable: true }))
      })
      try {
        stream = (await link.openStream('provider.stream', (ids) => ({ serviceId, ...ids, request: sent }), signal)).stream
        silence.expect(firstByte)
        for await (const item of stream.items) {
          reader.take(item)
          silence.expect(reader.isFinished ? trailer : idle)
        }
        signal.throwIfAborted()
        reader.end()
      } catch (error) {
        if (signal.aborted) throw reasonOf(signal)
        if (!reader.isFinished) throw providerError(error, settings.providerId)
      } finally {
        silence.stop()
      }
    },
  }
}

/** A conversation that does not fit one frame has outgrown this provider (§13-14). */
function providerError(error: unknown, providerId: string): ProviderError {
  if (error instanceof ProviderError) return error
  const reason = messageOf(error)
  if (isFrameTooLarge(error))
    return new ProviderError(`The conversation is too long for provider "${providerId}": ${reason}`, {
      retryable: false,
      overflow: true,
      cause: error,
    })
  return new ProviderError(`Provider "${providerId}" failed: ${reason}`, { retryable: false, cause: error })
}

/** Empty collections and absent options are left out; sampling has no fields of its own and travels with the options. */
function requestOf(settings: ProviderSettings, request: GenerateRequest): GenerationRequest {
  const { sessionId, directory, model, tools, temperature, topP, maxOutputTokens } = request
  const { textVerbosity, ...rest } = request.options
  const options = {
    ...rest,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  }
  const key = settings.apiKey()
  const headers = { ...settings.headers, ...request.headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  return {
    providerId: settings.providerId,
    modelId: model.id,
    workspaceId: directory,
    sessionId,
    ...(model.variant === undefined ? {} : { variant: model.variant }),
    ...(typeof textVerbosity === 'string' ? { textVerbosity } : {}),
    messages: toProviderMessages(request.messages),
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
    ...(isFields(options) && Object.keys(options).length > 0 ? { options } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  }
}

function toolOf({ id, description, parameters, outputSchema }: GenerateRequest['tools'][number]) {
  return { id, description, parameters, ...(outputSchema === undefined ? {} : { outputSchema }) }
}
