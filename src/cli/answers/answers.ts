/**
 * Answers what the agent asks during a run: by policy, by the person at the terminal, or with a refusal when nobody is there,
 * so that an unattended run never waits.
 */
import type { PromptOptions } from '../../published/client/client-types.js'
import type { PermissionReply, PermissionRequest, QuestionRequest } from '../../protocol/interaction/interaction.js'
import type { Refusal } from '../../protocol/interaction/refusal.js'
import { refusalOf } from '../../protocol/interaction/refusal-of.js'
import { escapedText, printable } from '../../protocol/text/visible-text.js'
import type { Terminal } from '../terminal/terminal.js'
import { readAnswer, readQuestions } from './question-text.js'
import { type Replies, sendDecision, sendTexts, tellElsewhere } from './told-late.js'

interface Answers extends Required<Pick<PromptOptions, 'onPermission' | 'onQuestion'>> {
  /** What was refused because nobody was there. */
  readonly refused: readonly Refusal[]
  /** Notes what the server has denied because nobody answered in time. */
  see(event: SeenEvent): void
}

/** Why the server denied a request that nobody answered. */
const TIMEOUT = 'timeout'
type SeenEvent = Parameters<NonNullable<PromptOptions['onEvent']>>[0]

const NOBODY = 'Nobody is present to answer. Go on without it or explain what would be needed.'

const EXPLAINED = [
  'y: this time. a: this time, and later in every session of this project what is exactly the same, until svc permissions revoke takes it back.',
  'n: no, and the agent goes on without it. Any other text is a no that the agent reads: what to do instead.',
].join('\n')

/** What is answered when the agent asks for a permission. */
export type AllowPolicy = 'ask' | 'once' | 'always' | 'reject'

/** `wait`: whoever else is connected may answer; the server denies what nobody does. */
export type AnswerPolicy = AllowPolicy | 'wait'

/** `replies`: where answers of a person go, once that is known; without it they are sent by whoever asks for them. */
export function createAnswers(policy: AnswerPolicy, terminal: Terminal, replies: () => Replies | undefined = () => undefined) {
  const refused: Refusal[] = []
  const late = new Set<string>()

  async function onPermission(
    request: PermissionRequest,
    { signal, wider }: { readonly signal: AbortSignal; readonly wider: readonly string[] },
  ): Promise<PermissionReply | undefined> {
    const what = `${escapedText(request.title)} (${request.permission}: ${request.patterns.map(escapedText).join(', ')})`
    if (policy === 'wait') {
      terminal.note(`left open for another client to answer: ${what}`)
      return undefined
    }
    if (policy !== 'ask') {
      terminal.note(`${policy === 'reject' ? 'refused' : 'allowed'}: ${what}`)
      return { reply: policy }
    }
    if (terminal.ask === undefined) {
      refused.push(refusalOf(request))
      terminal.error(
        `refused, because nobody is here to answer: ${what}\n     Allow it with --allow once, or with a permission rule in the configuration.`,
      )
      return { reply: 'reject', message: NOBODY }
    }
    const question = `Allow ${what}?\n  ${choices(request.always, wider)}`
    let answer = await person(terminal.ask, request.id, question, signal)
    while (answer.trim() === '?') answer = await person(terminal.ask, request.id, `${EXPLAINED}\n${question}`, signal)
    const decision = readDecision(answer, wider)
    const door = replies()
    return door === undefined ? decision : sendDecision(door, terminal, request.id, decision)
  }

  /** Whoever waits is told when somebody else has answered. */
  async function person(ask: NonNullable<Terminal['ask']>, requestId: string, question: string, signal: AbortSignal): Promise<string> {
    try {
      return await ask(question, signal)
    } catch (error) {
      const door = replies()
      if (signal.aborted && door !== undefined) await tellElsewhere(door, terminal, requestId)
      throw error
    }
  }

  async function onQuestion(
    request: QuestionRequest,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<'reject' | string[][] | undefined> {
    if (policy === 'wait') {
      terminal.note('left open for another client to answer: a question')
      return undefined
    }
    if (terminal.ask === undefined) {
      if (request.questions.every(isOfAcceptance)) {
        terminal.note(`not accepted, because nobody is here to answer: ${printable(refusalOf(request).title)}`)
        return 'reject'
      }
      refused.push(refusalOf(request))
      terminal.error('the agent asked a question, and nobody is here to answer it')
      return 'reject'
    }
    const answers: string[][] = []
    for (const question of readQuestions(request.questions)) {
      answers.push(readAnswer(question, await person(terminal.ask, request.id, question.text, signal)))
    }
    const door = replies()
    return door === undefined ? answers : sendTexts(door, terminal, request.id, answers)
  }

  function see(event: SeenEvent): void {
    if (event.type !== 'permission.replied' && event.type !== 'question.rejected') return
    const { reason, requestID, info } = event.data
    if (policy !== 'wait' || reason !== TIMEOUT || info == null || late.has(requestID)) return
    late.add(requestID)
    const refusal = refusalOf(info)
    refused.push(refusal)
    terminal.error(`refused, because nobody answered in time: ${refusalText(refusal)}`)
  }

  return {
    onPermission,
    onQuestion,
    see,
    refused,
  } satisfies Answers
}

/** Whether a program may start in the workspace: the run goes on without it, and nothing that it does fails. */
function isOfAcceptance(question: unknown): boolean {
  return typeof question === 'object' && question !== null && 'acceptance' in question
}

/** One line: what was asked, and of what. */
export function refusalText({ permission, title, patterns }: Refusal): string {
  return `${printable(title)} (${[permission, patterns.map(printable).join(', ')].filter((text) => text !== '').join(': ')})`
}

function choices(always: readonly string[], wider: readonly string[]): string {
  const list = (patterns: readonly string[]) => patterns.map(escapedText).join(', ')
  const lasting = [
    ...(always.length === 0 ? [] : [`[a] always (just this: ${list(always)})`]),
    ...(wider.length === 0 ? [] : [`[w] always, and also ${list(wider)}`]),
  ]
  return ['[y] once', ...lasting, '[n] no, or say what to do instead', '[?] what that means: '].join('  ')
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
