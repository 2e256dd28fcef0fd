/**
 * Answers what the agent asks during a run: by policy, by the person at the terminal, or with a refusal when nobody is there,
 * so that an unattended run never waits. One question is open at a time.
 */
import {
  interactionRoutes,
  type PermissionReply,
  type PermissionRequest,
  type QuestionRequest,
} from '../../protocol/interaction/interaction.js'
import { widerPatterns } from '../../protocol/interaction/wider-patterns.js'
import type { AllowPolicy } from '../arguments.js'
import type { Client } from '../client.js'
import { SvcError } from '../../protocol/errors.js'
import { readAnswer, readQuestions } from './question-text.js'
import type { Terminal } from '../terminal.js'
import { printable } from '../../protocol/visible-text.js'

export interface Answers {
  permission(request: PermissionRequest): Promise<void>
  question(request: QuestionRequest): Promise<void>
  /** Somebody else answered, or the request was withdrawn. */
  settled(requestId: string): void
  /** Takes back every request that is not among these: it was settled unseen. */
  keep(requestIds: ReadonlySet<string>): void
}

const NOBODY = 'Nobody is present to answer. Go on without it or explain what would be needed.'

/** `wait`: whoever else is connected may answer; the server denies what nobody does. */
export type AnswerPolicy = AllowPolicy | 'wait'

export function createAnswers(client: Client, policy: AnswerPolicy, terminal: Terminal): Answers {
  const open = new Map<string, AbortController>()
  let last: Promise<unknown> = Promise.resolve()

  return {
    permission: (request) => inTurn(request.id, (signal) => replyPermission(request, signal)),
    question: (request) => inTurn(request.id, (signal) => replyQuestion(request, signal)),
    settled: (requestId) => open.get(requestId)?.abort(),
    keep(requestIds) {
      for (const [id, controller] of open) if (!requestIds.has(id)) controller.abort()
    },
  }

  async function inTurn(id: string, answer: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController()
    open.set(id, controller)
    const turn = last.then(() => (controller.signal.aborted ? undefined : answer(controller.signal)))
    last = turn.catch(() => undefined)
    try {
      await turn
    } catch (error) {
      const settledMeanwhile = controller.signal.aborted || (error instanceof SvcError && error.code === 'resource.conflict')
      if (!settledMeanwhile) throw error
    } finally {
      open.delete(id)
    }
  }

  async function replyPermission(request: PermissionRequest, signal: AbortSignal): Promise<void> {
    const body = await decide(request, signal)
    if (body === undefined) return
    await client.call(interactionRoutes.replyPermission, { params: { request_id: request.id }, body, signal })
  }

  async function decide(request: PermissionRequest, signal: AbortSignal): Promise<PermissionReply | undefined> {
    const what = `${printable(request.title)} (${request.permission}: ${request.patterns.map(printable).join(', ')})`
    if (policy === 'wait') {
      terminal.note(`left open for another client to answer: ${what}`)
      return undefined
    }
    if (policy !== 'ask') {
      terminal.note(`${policy === 'reject' ? 'refused' : 'allowed'}: ${what}`)
      return { reply: policy }
    }
    if (terminal.ask === undefined) {
      terminal.error(
        `refused, because nobody is here to answer: ${what}\n     Allow it with --allow once, or with a permission rule in the configuration.`,
      )
      return { reply: 'reject', message: NOBODY }
    }
    const wider = widerPatterns(request)
    return readDecision(await terminal.ask(`Allow ${what}?\n  ${choices(request.always, wider)}`, signal), wider)
  }

  async function replyQuestion(request: QuestionRequest, signal: AbortSignal): Promise<void> {
    const params = { request_id: request.id }
    if (policy === 'wait') return terminal.note('left open for another client to answer: a question')
    if (terminal.ask === undefined) {
      terminal.error('the agent asked a question, and nobody is here to answer it')
      await client.call(interactionRoutes.rejectQuestion, { params, signal })
      return
    }
    const answers: string[][] = []
    for (const question of readQuestions(request.questions)) {
      answers.push(readAnswer(question, await terminal.ask(question.text, signal)))
    }
    await client.call(interactionRoutes.replyQuestion, { params, body: { answers }, signal })
  }
}

function choices(always: readonly string[], wider: readonly string[]): string {
  const list = (patterns: readonly string[]) => patterns.map(printable).join(', ')
  const lasting = [
    ...(always.length === 0 ? [] : [`[a] always (just this: ${list(always)})`]),
    ...(wider.length === 0 ? [] : [`[w] always, and also ${list(wider)}`]),
  ]
  return ['[y] once', ...lasting, '[n] no, or say what to do instead: '].join('  ')
}

/** `y`, `a`, `w` (where something wider is offered) and `n` as words or letters; anything else is a refusal with that text as the reason. */
export function readDecision(answer: string, wider: readonly string[]): PermissionReply {
  const word = answer.toLowerCase()
  if (wider.length > 0 && (word === 'w' || word === 'wider')) return { reply: 'always', alwaysPatterns: [...wider] }
  if (word === 'y' || word === 'yes' || word === 'once') return { reply: 'once' }
  if (word === 'a' || word === 'always') return { reply: 'always' }
  if (word === '' || word === 'n' || word === 'no') return { reply: 'reject' }
  return { reply: 'reject', message: answer }
}
