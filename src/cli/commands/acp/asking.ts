/** What a session asks, put to the person in front of the editor. */
import { resolve } from 'node:path'
import { type AgentContext, type PermissionOption, RequestError, type RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { type AnyEventObject, createActor, fromCallback, toPromise } from 'xstate'
import { type AskingInput, askingMachine } from '../../../machines/acp/asking.machine.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { PermissionRequest, QuestionRequest } from '../../../protocol/interaction/interaction.js'
import type { PromptOptions } from '../../../published/client/client-types.js'
import { kindOf, pathsOf } from './tool-updates.js'

/** Of questions, for editors that know it (subsystems n). */
const QUESTION = 'session/request_question'
const ANSWERS: readonly PermissionOption[] = [
  { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
]
const WIDER = 'always:'
/** Requests whose answers are on their way. */
const REMEMBERED = 256

interface Asked {
  readonly question: string
  readonly header: string
  readonly options: readonly { readonly label: string; readonly description: string }[]
  readonly multiple: boolean
}

interface AskingOptions {
  /** The editor puts a form to a person. */
  readonly elicits: boolean
  /** Of the session. */
  readonly cwd: string
}

/** Whatever an editor answers but a choice it was offered is a refusal. */
export function createAsking(
  editor: AgentContext,
  { elicits, cwd }: AskingOptions,
): Required<Pick<PromptOptions, 'onPermission' | 'onQuestion'>> {
  const choose = (sessionId: string, toolCall: object, options: readonly PermissionOption[], signal: AbortSignal) =>
    editor
      .request<RequestPermissionResponse>(
        'session/request_permission',
        { sessionId, toolCall, options: [...options] },
        { cancellationSignal: signal },
      )
      .then(({ outcome }) => (outcome.outcome === 'selected' ? outcome.optionId : undefined))

  return {
    onPermission: once(async (request, { signal, wider }) => {
      const more = wider.map((pattern) => ({
        optionId: `${WIDER}${pattern}`,
        name: `Always allow ${pattern}`,
        kind: 'allow_always' as const,
      }))
      const [once, always, reject] = ANSWERS
      const options = [once, always, ...more, reject].filter((option) => option !== undefined)
      const chosen = await choose(request.sessionId, callOf(request, cwd), options, signal)
      if (chosen === 'once' || chosen === 'always') return chosen
      const pattern = chosen?.startsWith(WIDER) === true ? chosen.slice(WIDER.length) : undefined
      return pattern !== undefined && wider.includes(pattern) ? { reply: 'always', alwaysPatterns: [pattern] } : 'reject'
    }),
    onQuestion: once(async (request, { signal }) => {
      const questions = request.questions.map(questionOf)
      if (elicits) return elicited(editor, request, questions, signal)
      try {
        const reply = await editor.request(QUESTION, { sessionId: request.sessionId, questions }, { cancellationSignal: signal })
        return isRecord(reply) && isAnswers(reply['answers'], questions.length) ? reply['answers'] : 'reject'
      } catch (error) {
        if (!(error instanceof RequestError) || error.code !== RequestError.methodNotFound('').code) throw error
      }
      const answers: string[][] = []
      for (const [index, { question, options }] of questions.entries()) {
        const offered = options.map(({ label }, at): PermissionOption => ({ optionId: String(at), name: label, kind: 'allow_once' }))
        const toolCall = { toolCallId: `${request.id}_${index}`, title: question, kind: 'other' }
        const decline: PermissionOption = { optionId: 'reject', name: 'Do not answer', kind: 'reject_once' }
        const chosen = await choose(request.sessionId, toolCall, [...offered, decline], signal)
        const label = chosen === undefined || !/^\d+$/.test(chosen) ? undefined : options[Number(chosen)]?.label
        if (label === undefined) return 'reject'
        answers.push([label])
      }
      return answers
    }),
  }
}

/** Prompts of one session each hear what it asks: the person is asked once. An editor that answers with an error refuses. */
function once<Request extends { readonly id: string }, Context extends { readonly signal: AbortSignal }, Answer>(
  ask: (request: Request, context: Context) => Promise<Answer>,
): (request: Request, context: Context) => Promise<Answer | 'reject' | undefined> {
  const asked = new Map<string, ReturnType<typeof begin>>()
  /** What was answered last: another prompt may hear of it only now. */
  const answered = new Set<string>()

  function begin(request: Request, context: Context) {
    const kept: { answer?: Answer | 'reject' } = {}
    const logic = askingMachine.provide({
      actors: {
        ask: fromCallback<AnyEventObject, AskingInput>(({ sendBack }) => {
          const withdrawn = new AbortController()
          ask(request, { ...context, signal: withdrawn.signal }).then(
            (answer) => {
              kept.answer = answer
              sendBack({ type: 'person.answered' })
            },
            (error: unknown) => {
              // An editor that is gone has not refused.
              if (error instanceof RequestError) kept.answer = 'reject'
              sendBack({ type: 'person.answered' })
            },
          )
          return () => withdrawn.abort()
        }),
      },
    })
    const actor = createActor(logic, { input: { requestId: request.id } })
    const ended = toPromise(actor).then(({ isAnswered }) => {
      asked.delete(request.id)
      if (!isAnswered) return undefined
      if (answered.size >= REMEMBERED) answered.clear()
      answered.add(request.id)
      return kept.answer
    })
    return { actor, answer: () => ended }
  }

  return async (request, context) => {
    if (answered.has(request.id)) return undefined
    let round = asked.get(request.id)
    if (round === undefined) {
      round = begin(request, context)
      asked.set(request.id, round)
      round.actor.start()
    } else round.actor.send({ type: 'prompt.joined' })
    const { actor, answer } = round
    const leave = () => actor.send({ type: 'prompt.left' })
    context.signal.addEventListener('abort', leave, { once: true })
    return answer().finally(() => context.signal.removeEventListener('abort', leave))
  }
}

/** With the file or the command that it is about, which an editor may have rules of its own for. */
function callOf({ id, title, permission, patterns, tool, metadata }: PermissionRequest, cwd: string): object {
  const call = isRecord(tool) ? tool : {}
  const input = isRecord(metadata) ? metadata['input'] : undefined
  const command = isRecord(input) && typeof input['command'] === 'string' ? { command: input['command'] } : {}
  const locations = pathsOf(input).map((path) => ({ path: resolve(cwd, path) }))
  const callId = call['callID'] ?? call['callId']
  return {
    toolCallId: typeof callId === 'string' ? callId : id,
    title,
    kind: kindOf(permission),
    status: 'pending',
    rawInput: { permission, patterns, ...command },
    ...(locations.length > 0 && { locations }),
  }
}

/** By a form, one field for each question. */
async function elicited(editor: AgentContext, request: QuestionRequest, questions: readonly Asked[], signal: AbortSignal) {
  const properties = Object.fromEntries(questions.map((asked, index) => [`q${index}`, fieldOf(asked)]))
  const reply = await editor.request(
    'elicitation/create',
    {
      mode: 'form',
      sessionId: request.sessionId,
      message: questions.map(({ question }) => question).join('\n'),
      requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
    },
    { cancellationSignal: signal },
  )
  if (!isRecord(reply) || reply['action'] !== 'accept' || !isRecord(reply['content'])) return 'reject' as const
  const { content } = reply
  const answers = questions.map((_, index) => [content[`q${index}`]].flat())
  return isAnswers(answers, questions.length) ? answers : ('reject' as const)
}

function fieldOf({ question, header, options, multiple }: Asked): object {
  const named = { title: header === '' ? question : header, description: question }
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: description === '' ? label : `${label}: ${description}`,
  }))
  if (choices.length === 0) return { type: 'string', ...named }
  return multiple ? { type: 'array', ...named, items: { anyOf: choices } } : { type: 'string', ...named, oneOf: choices }
}

function isAnswers(value: unknown, count: number): value is string[][] {
  const isTexts = (list: unknown) => Array.isArray(list) && list.every((item) => typeof item === 'string')
  return Array.isArray(value) && value.length === count && value.every(isTexts)
}

function questionOf(value: unknown): Asked {
  const asked = isRecord(value) ? value : {}
  const text = (name: string, of: Readonly<Record<string, unknown>> = asked) => (typeof of[name] === 'string' ? of[name] : '')
  const options = Array.isArray(asked['options']) ? asked['options'].filter(isRecord) : []
  return {
    question: text('question'),
    header: text('header'),
    options: options.map((option) => ({ label: text('label', option), description: text('description', option) })),
    multiple: asked['multiple'] === true,
  }
}
