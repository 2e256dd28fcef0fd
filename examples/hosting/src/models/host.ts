/**
 * The side of a controller that workers may speak to: credentials for models, and the models themselves.
 *
 * I1 A worker is answered while it is the worker of its workspace: its generation and its runtime are looked at in the row, each time.
 * I2 The key of a provider never leaves this process but to the provider: a worker has a credential that opens this door for some minutes.
 */
import { type IncomingMessage, request as ask, type ServerResponse } from 'node:http'
import { request as askSecurely } from 'node:https'
import type { BoundWorkspace } from '../database/rows.js'
import { bearerOf } from '../credentials/bearers.js'
import type { Sealed } from '../credentials/sealed.js'
import { forwarded } from '../broker/headers.js'
import { readJson, sendJson } from '../http/json.js'
import type { WorkspaceKey } from '../records/machines.js'
import type { ModelCredential, WorkerBearer } from './credentials.js'
import { CredentialRequest, type ModelProvider } from './records.js'

export interface ModelHostParts {
  readonly bearers: Sealed<WorkerBearer>
  readonly credentials: Sealed<ModelCredential>
  readonly providers: readonly (ModelProvider & { readonly key: string })[]
  readonly find: (key: WorkspaceKey) => Promise<BoundWorkspace | undefined>
  readonly now: () => number
  readonly log: (message: string, error: unknown) => void
}

const LIFETIME = 300
const LONGEST = 16 * 1024
const MODEL = /^\/worker\/models\/([A-Za-z0-9_.-]{1,128})(\/[^#]*)$/
const CREDENTIALS = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'cookie'])

type Standing = 'current' | 'over' | 'unknown'

export function createModelHost(parts: ModelHostParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { bearers, credentials, providers, find, now, log } = parts

  async function standing({ owner, generation, runtimeId }: WorkerBearer): Promise<Standing> {
    const { allocation, retired } = (await find(owner))?.binding ?? {}
    if (allocation === undefined) return 'unknown'
    if (retired === true || allocation.generation > generation) return 'over'
    return allocation.generation === generation && allocation.launch?.runtime_id === runtimeId ? 'current' : 'unknown'
  }

  async function hand(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bearer = bearerOf(request)
    const worker = bearer === undefined ? undefined : bearers.open(bearer, now())
    if (worker === undefined) return sendJson(response, 401, { code: 'denied' })
    const asked = CredentialRequest.safeParse(await readJson(request, LONGEST))
    if (!asked.success || !isFrom(asked.data, worker)) return sendJson(response, 403, { code: 'denied' })
    const its = await standing(worker)
    if (its !== 'current') return sendJson(response, its === 'over' ? 410 : 403, { code: its === 'over' ? 'expired' : 'denied' })
    const { provider } = asked.data
    if (providers.every(({ id }) => id !== provider)) return sendJson(response, 404, { code: 'invalid' })
    const expiresAt = Math.min(now() + LIFETIME, worker.expiresAt)
    return sendJson(response, 200, { version: 1, provider, apiKey: credentials.seal({ ...worker, provider, expiresAt }), expiresAt })
  }

  async function pass(request: IncomingMessage, response: ServerResponse, id: string, path: string): Promise<void> {
    const provider = providers.find((each) => each.id === id)
    const given = provider === undefined ? undefined : credentialOf(request, provider)
    const credential = given === undefined ? undefined : credentials.open(given, now())
    if (provider === undefined || credential?.provider !== id) return sendJson(response, 401, { code: 'denied' })
    if ((await standing(credential)) !== 'current') return sendJson(response, 401, { code: 'expired' })
    const url = new URL(provider.url + path)
    const key = provider.header === 'authorization' ? `Bearer ${provider.key}` : provider.key
    const headers = ['host', url.host, ...forwarded(request, CREDENTIALS), provider.header, key]
    if (request.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked')
    const upstream = (url.protocol === 'https:' ? askSecurely : ask)(url, { method: request.method, headers, setHost: false })
    response.once('close', () => upstream.destroy())
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, forwarded(answer))
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    upstream.on('error', () => sendJson(response, 502, { code: 'unavailable' }))
    request.pipe(upstream)
  }

  return (request, response) => {
    const [, id, path] = MODEL.exec(request.url ?? '') ?? []
    const isAsking = request.method === 'POST' && request.url === '/worker/credentials'
    const answered = isAsking
      ? hand(request, response)
      : id !== undefined && path !== undefined
        ? pass(request, response, id, path)
        : undefined
    if (answered === undefined) return sendJson(response, 404, { code: 'invalid' })
    answered.catch((error: unknown) => {
      log('a request of a worker failed', error)
      sendJson(response, 503, { code: 'unavailable' })
    })
  }
}

function isFrom(asked: CredentialRequest, { owner, generation, runtimeId }: WorkerBearer): boolean {
  const { tenantId, workspaceId, runtimeGeneration } = asked
  return tenantId === owner.tenant && workspaceId === owner.workspace && runtimeGeneration === generation && asked.runtimeId === runtimeId
}

function credentialOf(request: IncomingMessage, { header }: ModelProvider): string | undefined {
  if (header === 'authorization') return bearerOf(request)
  const given = request.headersDistinct[header]
  return given?.length === 1 ? given[0] : undefined
}
