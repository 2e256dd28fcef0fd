/** The bridge: five operations over HTTP for coordinators that hold its bearer (http-contract §7.2). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { bearerOf, holderOf } from '../credentials/bearers.js'
import { ProtocolRequest } from '../records/machines.js'
import { readJson, sendJson } from '../http/json.js'
import { type Machines, Refusal } from './machines.js'

export interface BridgeOptions {
  readonly coordinators: readonly { readonly sha256: string }[]
  readonly machines: Machines
  readonly log: (message: string, error: unknown) => void
}

const PATH = /^\/v2\/runtime\/(ensure|inspect|start|stop|destroy)$/
const LONGEST = 64 * 1024

export function createBridge({ coordinators, machines, log }: BridgeOptions): Server {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bearer = bearerOf(request)
    if (bearer === undefined || holderOf(coordinators, bearer) === undefined) return sendJson(response, 401, { error: 'unauthorized' })
    const verb = PATH.exec(request.url ?? '')?.[1] as 'ensure' | undefined
    if (verb === undefined || request.method !== 'POST') return sendJson(response, 404, { error: 'no such operation' })
    const asked = ProtocolRequest.safeParse(await readJson(request, LONGEST))
    // No status of the contract says that a request is malformed; a machine for it is not there.
    if (!asked.success) return sendJson(response, 409, { error: 'not a request of version 2' })
    const status = await machines.ask(verb, asked.data)
    return sendJson(response, status.ready || status.state === 'stopped' || status.state === 'destroyed' ? 200 : 202, {
      version: 2,
      status,
    })
  }

  return createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof Refusal) return sendJson(response, error.status === 400 ? 409 : error.status, { error: error.message })
      log('an operation of the bridge failed', error)
      return sendJson(response, 500, { error: 'internal' })
    })
  })
}
