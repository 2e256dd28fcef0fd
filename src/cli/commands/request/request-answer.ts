/** `svc request answer` and `show`: exactly one answer counts, and whoever comes late is told which (choice 40). */
import type { Client } from '../../../published/client/client-types.js'
import { SvcClientError } from '../../../published/client/client.js'
import { SvcError } from '../../../protocol/errors.js'
import type { PermissionOutcome, QuestionOutcome } from '../../../protocol/interaction/interaction.js'
import { widerPatterns } from '../../../protocol/interaction/wider-patterns.js'
import { escapedText } from '../../../protocol/text/visible-text.js'
import { readDecision } from '../../answers/answers.js'
import { hasCounted, type Outcome, outcomeText } from '../../answers/outcome-text.js'
import { readAnswer, readQuestions } from '../../answers/question-text.js'
import { wrongUse } from '../../line/wrong-use.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { idOf } from './given-numbers.js'
import type { AnswerOptions, ShowOptions } from './request-arguments.js'
import { waitingOf } from './waiting.js'

/** Answers 0, or 1 when another answer has counted. */
export async function answerRequest(client: Client, options: AnswerOptions): Promise<number> {
  const id = idMeant(options.request)
  const before = await outcomeOf(client, id)
  if (before.state !== 'pending') return late(before, options.json)
  const after = isQuestion(before) ? await answerQuestion(client, before, options) : await answerPermission(client, before, options)
  if (after === undefined) return late(await outcomeOf(client, id), options.json)
  writeOut(options.json ? `${jsonText({ late: false, ...after }, 2)}\n` : `${titleOf(after)}: ${outcomeText(after) ?? ''}\n`)
  return 0
}

/** Prints it; answers 0. */
export async function showRequest(client: Client, { request, json }: ShowOptions): Promise<number> {
  const outcome = await outcomeOf(client, idMeant(request))
  writeOut(json ? `${jsonText(outcome, 2)}\n` : `${titleOf(outcome)}: ${outcomeText(outcome) ?? 'waits for an answer'}\n`)
  return 0
}

async function answerPermission(
  { interactions }: Client,
  { request }: PermissionOutcome,
  { words, declines }: AnswerOptions,
): Promise<Outcome | undefined> {
  const body = declines ? { reply: 'reject' as const } : readDecision(words.join(' '), widerPatterns(request))
  await interactions.permissions.reply({ requestId: request.id, body })
  const outcome = await interactions.permissions.get({ requestId: request.id })
  return hasCounted(outcome, body) ? outcome : undefined
}

async function answerQuestion(
  { interactions }: Client,
  { request }: QuestionOutcome,
  { words, declines }: AnswerOptions,
): Promise<Outcome | undefined> {
  const { id: requestId } = request
  const answers = declines ? undefined : answersOf(request.questions, words)
  if (answers === undefined) await interactions.questions.reject({ requestId })
  else await interactions.questions.reply({ requestId, body: { answers } })
  const outcome = await interactions.questions.get({ requestId })
  return hasCounted(outcome, { answers }) ? outcome : undefined
}

/** One question takes all words, several take one each. */
function answersOf(questions: readonly unknown[], words: readonly string[]): string[][] {
  const typed = questions.length === 1 ? [words.join(' ')] : words
  if (typed.length !== questions.length)
    throw wrongUse(`it asks ${questions.length} questions: give an answer to each, in quotes where it has several words`)
  return readQuestions(questions).map((question, index) => readAnswer(question, typed[index] ?? ''))
}

function late(outcome: Outcome, json: boolean): number {
  if (json) writeOut(`${jsonText({ late: true, ...outcome }, 2)}\n`)
  else writeError(`svc: too late: ${titleOf(outcome)}: ${outcomeText(outcome) ?? ''}\n`)
  return 1
}

function titleOf({ request }: Outcome): string {
  const { title, permission } = waitingOf(request, '', 0)
  return `${escapedText(title)}${permission === undefined ? '' : ` (${permission})`}`
}

function isQuestion(outcome: Outcome): outcome is QuestionOutcome {
  return 'questions' in outcome.request
}

function idMeant(named: string): string {
  if (!/^\d+$/.test(named)) return named
  const id = idOf(Number(named))
  if (id === undefined) throw new SvcError('resource.not_found', `No request was shown with the number ${named}; svc requests lists them.`)
  return id
}

async function outcomeOf({ interactions }: Client, requestId: string): Promise<Outcome> {
  try {
    return await (requestId.startsWith('que') ? interactions.questions : interactions.permissions).get({ requestId })
  } catch (error) {
    if (!(error instanceof SvcClientError) || error.code !== 'resource.not_found') throw error
    throw new SvcError('resource.not_found', `There is no request ${requestId}; svc requests lists those that wait.`, {}, { cause: error })
  }
}
