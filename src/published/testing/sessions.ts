/** Sessions as a test drives them: the calls of the API, made as the local user. */
import type { Runtime } from '../../ports/facades.js'
import { TRUSTED_CALLER } from '../../protocol/caller.js'
import { isOfCompaction } from '../../actors/session/history/conversation.js'
import type { Message } from '../../protocol/message/message.js'
import type { PlayedModel } from './model.js'
import type { TestInteractions, TestSessions } from './runtime-types.js'
import { errorAt, stackAbove, type Waits } from './waits.js'

export interface SessionDeps {
  readonly runtime: Runtime
  readonly directory: string
  readonly played: PlayedModel
  readonly waits: Waits
}

type Ref = string | { readonly id: string }

export const idOf = (session: Ref) => (typeof session === 'string' ? session : session.id)

export function createTestSessions({ runtime: { sessions }, directory, played, waits }: SessionDeps): TestSessions {
  const messages = (session: Ref) => JSON.parse(sessions.context(idOf(session)).rawJson) as Message[]

  const prompt: TestSessions['prompt'] = (session, request) =>
    sessions.submitPrompt(TRUSTED_CALLER, idOf(session), typeof request === 'string' ? { prompt: request } : request, 'prompt')

  async function idle(session: Ref): Promise<void> {
    const { id } = sessions.get(idOf(session))
    const at = stackAbove(idle)
    const wait = {
      what: `the session ${id} is idle`,
      withinMs: undefined,
      listen(resolve: (value: undefined) => void) {
        const ended = new AbortController()
        sessions.wait(id, ended.signal).then(
          () => resolve(undefined),
          () => undefined,
        )
        return () => ended.abort()
      },
      found: () => `Its status is ${JSON.stringify(sessions.status(TRUSTED_CALLER)[id]?.type ?? 'idle')}; ${openCalls(messages(id))}.`,
    }
    await waits.until(wait, idle)
    const missing = played.takeMissing()
    if (missing !== undefined) throw errorAt(missing, at)
  }

  return {
    create: (request = {}) => sessions.create(TRUSTED_CALLER, directory, { title: 'Test', ...request }),
    get: (session) => sessions.get(idOf(session)),
    prompt,
    abort: (session) => sessions.abort(idOf(session)),
    idle,
    async ask(session, request) {
      await prompt(session, request)
      await idle(session)
      return textOf(messages(session).findLast((message) => !isOfCompaction(message)))
    },
    messages,
  }
}

export function createTestInteractions({ interactions }: Runtime): TestInteractions {
  return {
    permissions: () => interactions.permissions(TRUSTED_CALLER, undefined),
    questions: () => interactions.questions(TRUSTED_CALLER, undefined),
    allow: ({ id }, reply = 'once') => void interactions.replyPermission(id, { reply }),
    reject: ({ id }, message) => void interactions.replyPermission(id, { reply: 'reject', ...(message !== undefined && { message }) }),
    reply: ({ id }, reply) => void interactions.replyPermission(id, reply),
    answer: ({ id }, answers) => void interactions.replyQuestion(id, { answers }),
  }
}

export function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

function openCalls(messages: readonly Message[]): string {
  const open = messages
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === 'tool' && /pending|running/.test(part.state.status) ? [`${part.tool} (${part.callId})`] : []))
  return open.length === 0 ? 'no tool call is open' : `open tool calls: ${open.join(', ')}`
}
