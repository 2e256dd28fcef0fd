/**
 * The turns of a chat: each is a run that is followed, and between them somebody attends.
 *
 * I1 What the session asks is answered here, whosever prompt it is about: by the run that is followed, and between runs by whoever attends.
 * I2 What an interrupt takes back is given back (choice 41), once the outcome of everything that was being sent is known; what the server has
 *    taken for a run of its own is said, and followed.
 */
import type { UserModel, PromptPart, PromptRequest } from '../../../protocol/message/message.js'
import type { Client } from '../../../published/client/client-types.js'
import type { createAnswers } from '../../answers/answers.js'
import { failureText } from '../../failure.js'
import type { Line } from '../../terminal/span.js'
import type { Terminal } from '../../terminal/terminal.js'
import { attachmentsOf, missingFiles } from '../run/attachments.js'
import { createPresentation } from '../run/presentation.js'
import type { TakenBack } from '../run/taken-back.js'
import type { ChatOptions } from './chat-page.js'
import type { StatusLine } from './status-line.js'
import { isStored, type Steer, type Steering } from './steering.js'

const ATTEMPTS = 6

/** One chat: what it goes on with, and what is under way in it. */
export interface Talk {
  readonly client: Client
  readonly options: ChatOptions
  readonly directory: string
  readonly terminal: Terminal
  readonly answers: ReturnType<typeof createAnswers>
  readonly takenBack: TakenBack
  readonly steering: Steering
  readonly statusLine: StatusLine<Line>
  /** Puts a text where it can be changed; false when something is typed there. */
  readonly retype: (text: string) => boolean
  /** Texts of prompts that were sent from here, by their message. */
  readonly mine: Map<string, string>
  /** What an interrupt has taken back of those that are followed, until all of them are over. */
  readonly back: Set<string>
  readonly runs: Set<AbortController>
  readonly following: Set<Promise<void>>
  sessionId: string
  model: UserModel | undefined
  agent: ChatOptions['agent']
  isThinking: boolean
  /** Lines that were typed and go on in the next one. */
  lines: string
  attending: AbortController
}

/** I1 */
export function attend({
  client,
  sessionId,
  answers,
  terminal,
}: Pick<Talk, 'client' | 'sessionId' | 'answers' | 'terminal'>): AbortController {
  const ended = new AbortController()
  const { onPermission, onQuestion } = answers
  const attended = client.attend(sessionId, { onPermission, onQuestion, attempts: ATTEMPTS, signal: ended.signal })
  attended.catch((error: unknown) => (ended.signal.aborted ? undefined : terminal.error(failureText(error))))
  return ended
}

export function requestOf({ terminal, directory, model, agent }: Talk, text: string, delivery: 'queue' | 'steer'): PromptRequest {
  for (const path of missingFiles(text, directory)) terminal.note(`@${path} leads to no file; it is sent as text`)
  const parts: PromptPart[] = [{ type: 'text', text }, ...attachmentsOf({ files: [], images: [] }, text, directory)]
  return { parts, delivery, ...(model !== undefined && { model }), ...(agent !== undefined && { agent }) }
}

/** Resolves when the run of this prompt is over. */
export function follow(talk: Talk, text: string): Promise<void> {
  return followed(talk, { sessionId: talk.sessionId, request: requestOf(talk, text, 'queue') }, text)
}

function followed(talk: Talk, prompt: Prompt, text: string): Promise<void> {
  const { following } = talk
  const all = turn(talk, prompt, text).finally(() => following.delete(all))
  following.add(all)
  return all
}

/** With the id of its message where it was sent before. */
interface Prompt {
  readonly sessionId: string
  readonly request: PromptRequest
}

/** I3 of what is typed: nothing that was typed before the interrupt comes to the server after it. */
export async function interrupt({ runs, steering }: Pick<Talk, 'runs' | 'steering'>): Promise<void> {
  await steering.sent()
  for (const run of runs) run.abort()
}

async function turn(talk: Talk, { sessionId, request }: Prompt, text: string): Promise<void> {
  const { client, options, terminal, answers, takenBack, mine, runs, back } = talk
  const run = new AbortController()
  runs.add(run)
  const line = talk.statusLine.begin()
  const presentation = createPresentation({ ...terminal, status: line.draw }, { isVerbose: options.isVerbose, isThinking: talk.isThinking })
  const { onPermission, onQuestion } = answers
  const hear = talk.steering.listen()
  talk.attending.abort()
  const running = client.prompt(sessionId, request, {
    onPermission,
    onQuestion,
    attends: runs.size === 1,
    onEvent(event) {
      takenBack.see(event)
      hear(event)
    },
    abortQueue: 'clear',
    attempts: ATTEMPTS,
    signal: run.signal,
  })
  const { messageId } = running
  mine.set(messageId, text)
  try {
    for await (const event of running) {
      presentation.show(event)
      if (event.type !== 'end') continue
      if (event.isTakenBack === true && run.signal.aborted) back.add(messageId)
      if (event.error !== undefined && !run.signal.aborted) terminal.error(event.error.message)
    }
  } catch (error) {
    // It was stopped before it was sent, or was never heard of again.
    if (!run.signal.aborted || error !== run.signal.reason) throw error
    if (!(await isKnown(client, sessionId, messageId))) back.add(messageId)
  } finally {
    presentation.end()
    line.end()
    if (!back.has(messageId)) mine.delete(messageId)
    if (runs.size === 1) await settle(talk, run.signal)
    runs.delete(run)
    if (runs.size === 0) talk.attending = attend(talk)
  }
}

async function isKnown({ sessions }: Client, sessionId: string, messageId: string): Promise<boolean> {
  const { items } = await sessions.queue.list({ sessionId })
  return items.some((item) => item.messageId === messageId) || isStored(sessions, sessionId, messageId)
}

/** I2. The last run that was followed is over. */
async function settle(talk: Talk, signal: AbortSignal): Promise<void> {
  const { terminal, mine, back } = talk
  const runs: Steer[] = []
  for (const { fate, ...steer } of await talk.steering.settle(() => signal.aborted)) {
    const { messageId } = steer.request
    if (fate === 'taken-back') back.add(messageId)
    else if (fate === 'runs') runs.push(steer)
    else terminal.note(`nobody knows whether the server has it: ${shown(mine.get(messageId))}`)
  }
  if (signal.aborted || back.size > 0) giveBack(talk)
  const known = new Set(runs.map(({ request }) => request.messageId))
  for (const messageId of mine.keys()) if (!known.has(messageId)) mine.delete(messageId)
  for (const steer of runs) {
    const text = mine.get(steer.request.messageId) ?? ''
    terminal.note(`has a run of its own: ${shown(text)}`)
    followed(talk, steer, text).catch((error: unknown) => terminal.error(failureText(error)))
  }
}

const shown = (text = '') => text.replaceAll('\n', ' / ')

/** What others had waiting is shown; what was typed here goes back into the line, the last of it where it can be changed. */
function giveBack(talk: Talk): void {
  const { mine, takenBack, terminal, back } = talk
  const taken = new Map(takenBack.texts().map(({ messageId, text }) => [messageId, text]))
  for (const messageId of back) taken.set(messageId, mine.get(messageId) ?? '')
  back.clear()
  for (const text of taken.values()) if (text !== '') terminal.note(`taken back: ${shown(text)}`)
  const all = [...mine].flatMap(([messageId, text]) => (taken.has(messageId) ? [text] : [])).join('\n')
  for (const messageId of taken.keys()) mine.delete(messageId)
  const last = all.lastIndexOf('\n') + 1
  if (all !== '' && talk.retype(all.slice(last))) talk.lines = all.slice(0, last)
}
