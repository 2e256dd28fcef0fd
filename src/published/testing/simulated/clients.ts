/** Who drives a host: a client that waits, and asks again when it has heard no answer. */
import { isOfCompaction } from '../../../actors/session/history/conversation.js'
import type { HttpServer, HttpServerOptions } from '../../../http/server.js'
import { createTokens } from '../../../http/admission/tokens.js'
import { TRUSTED_CALLER } from '../../../protocol/caller.js'
import type { Ids } from '../../../protocol/ids.js'
import type { Message } from '../../../protocol/message/message.js'
import { callerOf, workflowsOf } from '../operations.js'
import { createTestInteractions, idOf, textOf } from '../sessions.js'
import type { TestInteractions, TestWorkflows } from '../runtime-types.js'
import type { Host } from './host.js'
import type { Life } from './life.js'
import type { SimulatedAnswer, SimulatedWorld } from './simulate-types.js'

/** `ids`: of what clients name. */
export function sessionsOf(host: Host, directory: string, ids: Ids): SimulatedWorld['sessions'] {
  const messagesIn = ({ runtime }: Life, id: string) => JSON.parse(runtime.sessions.context(id).rawJson) as Message[]

  const sessions: SimulatedWorld['sessions'] = {
    create: (request = {}) =>
      host.reach('a session is created', ({ runtime }) =>
        runtime.sessions.create(TRUSTED_CALLER, directory, { title: 'Simulated', ...request }),
      ),
    get: (session) => host.reach('a session is read', ({ runtime }) => runtime.sessions.get(idOf(session))),
    prompt(session, given) {
      const request = { messageId: ids.next('msg'), ...(typeof given === 'string' ? { prompt: given } : given) }
      return host.reach('a prompt is taken', ({ runtime }) =>
        runtime.sessions.submitPrompt(TRUSTED_CALLER, idOf(session), request, 'prompt'),
      )
    },
    abort: (session) => host.reach('a run is aborted', ({ runtime }) => runtime.sessions.abort(idOf(session))),
    idle: (session) =>
      host.reach(`the session ${idOf(session)} is idle`, async ({ runtime }) => {
        await runtime.sessions.wait(idOf(session), new AbortController().signal)
      }),
    async ask(session, request) {
      await sessions.prompt(session, request)
      await sessions.idle(session)
      return textOf(sessions.messages(session).findLast((message) => !isOfCompaction(message)))
    },
    messages: (session) => messagesIn(host.life, idOf(session)),
  }
  return sessions
}

export function interactionsOf(host: Host): TestInteractions {
  const now = () => createTestInteractions(host.life.runtime)
  return {
    permissions: () => now().permissions(),
    questions: () => now().questions(),
    allow: (...given) => now().allow(...given),
    reject: (...given) => now().reject(...given),
    reply: (...given) => now().reply(...given),
    answer: (...given) => now().answer(...given),
  }
}

export function workflowsIn(host: Host, directory: string): TestWorkflows {
  return workflowsOf((operationId, args) =>
    host.reach(`${operationId} is answered`, ({ runtime }) => callerOf(runtime, directory)(operationId, args)),
  )
}

/** Calls of the API: the server of HTTP, without a network. It is loaded for the first call, and made for the first of each life. */
export function callsOf(host: Host, directory: string): SimulatedWorld['call'] {
  const servers = new WeakMap<Life, HttpServer>()

  function serverOf(life: Life, create: (options: HttpServerOptions) => HttpServer): HttpServer {
    const { runtime, effects, clock } = life
    const known =
      servers.get(life) ?? create({ runtime, clock, tokens: createTokens({}), log: effects.log, allowedHosts: [], allowedOrigins: [] })
    servers.set(life, known)
    return known
  }

  return async (method, path, body) => {
    // Outside of the call: no simulated time passes for it.
    const { createHttpServer } = await import('../../../http/server.js')
    return host.reach<SimulatedAnswer>(`${method} ${path} is answered`, async (life) => {
      const answer = await serverOf(life, createHttpServer).inject({
        method: method.toUpperCase() as 'GET',
        url: path,
        headers: { 'x-svc-directory': directory },
        ...(body !== undefined && { payload: body as object }),
      })
      return { status: answer.statusCode, body: bodyOf(answer.body) }
    })
  }
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
