/**
 * The turns of a chat: each is a run that is followed, and between them somebody attends.
 *
 * I1 What the session asks is answered here, whosever prompt it is about: by the run that is followed, and between runs by whoever attends.
 * I2 What an interrupt takes back is given back (choice 41).
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

const ATTEMPTS = 6

/** One chat: what it goes on with, and what is under way in it. */
export interface Talk {
  readonly client: Client
  readonly options: ChatOptions
  readonly directory: string
  readonly terminal: Terminal
  readonly answers: ReturnType<typeof createAnswers>
  readonly takenBack: TakenBack
  readonly statusLine: StatusLine<Line>
  /** Puts a text where it can be changed; false when something is typed there. */
  readonly retype: (text: string) => boolean
  /** Texts of prompts that were sent from here, by their message. */
  readonly mine: Map<string, string>
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
  const { following } = talk
  const followed = turn(talk, text).finally(() => following.delete(followed))
  following.add(followed)
  return followed
}

async function turn(talk: Talk, text: string): Promise<void> {
  const { client, options, terminal, answers, takenBack, mine, runs } = talk
  const run = new AbortController()
  runs.add(run)
  const line = talk.statusLine.begin()
  const presentation = createPresentation({ ...terminal, status: line.draw }, { isVerbose: options.isVerbose, isThinking: talk.isThinking })
  const { onPermission, onQuestion } = answers
  talk.attending.abort()
  const { sessionId } = talk
  const running = client.prompt(sessionId, requestOf(talk, text, 'queue'), {
    onPermission,
    onQuestion,
    attends: runs.size === 1,
    onEvent: takenBack.see,
    abortQueue: 'clear',
    attempts: ATTEMPTS,
    signal: run.signal,
  })
  const { messageId } = running
  mine.set(messageId, text)
  let isTakenBack = false
  try {
    for await (const event of running) {
      presentation.show(event)
      if (event.type !== 'end') continue
      isTakenBack = event.isTakenBack === true
      if (event.error !== undefined && !run.signal.aborted) terminal.error(event.error.message)
    }
  } catch (error) {
    // It was stopped before it was sent.
    if (!run.signal.aborted || error !== run.signal.reason) throw error
    isTakenBack = !(await isKnown(client, sessionId, messageId))
  } finally {
    runs.delete(run)
    presentation.end()
    line.end()
    if (run.signal.aborted) giveBack(talk, isTakenBack && mine.has(messageId) ? [messageId] : [])
    mine.delete(messageId)
    if (runs.size === 0) talk.attending = attend(talk)
  }
}

async function isKnown({ sessions }: Client, sessionId: string, messageId: string): Promise<boolean> {
  const { items } = await sessions.queue.list({ sessionId })
  if (items.some((item) => item.messageId === messageId)) return true
  return sessions.messages.get({ sessionId, messageId }).then(
    () => true,
    () => false,
  )
}

/** I2. What others had waiting is shown; what was typed here goes back into the line, the last of it where it can be changed. */
function giveBack(talk: Talk, ids: readonly string[]): void {
  const { mine, takenBack, terminal } = talk
  const taken = [...takenBack.texts(), ...ids.map((messageId) => ({ messageId, text: mine.get(messageId) ?? '' }))]
  for (const { text } of taken) if (text !== '') terminal.note(`taken back: ${text.replaceAll('\n', ' / ')}`)
  const all = taken.flatMap(({ messageId }) => mine.get(messageId) ?? []).join('\n')
  for (const { messageId } of taken) mine.delete(messageId)
  const last = all.lastIndexOf('\n') + 1
  if (all !== '' && talk.retype(all.slice(last))) talk.lines = all.slice(0, last)
}
