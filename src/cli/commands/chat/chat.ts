/**
 * `svc chat`: turns over the stream of `svc run`, with a line to type in below.
 *
 * I1 What is typed while a run is under way steers it, and is shown by the one that follows that run.
 * I2 A prompt of `/queue` is followed by itself: nothing of it is told before its run begins.
 * I3 What the session asks is answered here, whosever prompt it is about: by the run that is followed, and between runs by whoever attends.
 * I4 Ctrl-C ends what is under way with everything that waits behind it: nothing runs unseen, and what was typed is given back (choice 41).
 */
import { randomUUID } from 'node:crypto'
import type { Client } from '../../../published/client/client-types.js'
import type { PromptPart, PromptRequest } from '../../../protocol/message/message.js'
import type { ChatOptions } from './chat-page.js'
import { connect } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { failureText } from '../../failure.js'
import { isAttended, isWatched, openEditor } from '../../terminal/output.js'
import { createAnswers } from '../../answers/answers.js'
import { attachmentsOf, missingFiles } from '../run/attachments.js'
import { chooseModel } from '../run/model-choice.js'
import { createPresentation } from '../run/presentation.js'
import { existingSession, openSession } from '../run/run.js'
import { createTakenBack } from '../run/taken-back.js'
import { createTerminal, type Terminal } from '../../terminal/terminal.js'
import { wrongUse } from '../../line/wrong-use.js'
import { keepHistory, readHistory } from './chat-history.js'
import { chooseAgent, modelsText } from './chat-choices.js'
import { helpLines, offered, understand } from './chat-lines.js'
import { shareStatusLine } from './status-line.js'

const ATTEMPTS = 6

/** Talks until the person leaves; answers 0. */
export async function chat(options: ChatOptions): Promise<number> {
  if (!isAttended() || !isWatched()) throw wrongUse('svc chat needs a terminal; svc run is for programs')
  const connection = await connect(options.server, { isApart: true })
  try {
    await talk(connection.client, options)
    return 0
  } finally {
    await connection.close()
  }
}

interface Waiting {
  readonly answer: (text: string) => void
}

async function talk(client: Client, options: ChatOptions): Promise<void> {
  const plain = createTerminal()
  const directory = directoryOn(options.server, options.directory)
  const commands = await client.commands.list({ directory })
  const known = commands.map(({ name }) => name)
  const existing = await existingSession(client, options)
  let model = options.model === undefined ? undefined : await chooseModel(client, existing?.directory ?? directory, options.model)
  let sessionId = await openSession(client, existing, options, plain)
  let { agent, isThinking } = options
  let lines = ''
  let asked: Waiting | undefined
  const runs = new Set<AbortController>()
  const following = new Set<Promise<void>>()
  const left = new AbortController()

  /** Questions are answered in the line below; one at a time, as the client puts them. */
  const terminal: Terminal = {
    ...plain,
    ask: (question, signal) =>
      new Promise((answer, refuse) => {
        plain.lines(question.split('\n').map((text) => [{ text, styles: ['bold'] }]))
        asked = { answer }
        signal.addEventListener('abort', () => {
          asked = undefined
          refuse(signal.reason as Error)
        })
      }),
  }
  const answers = createAnswers('ask', terminal)
  const takenBack = createTakenBack(() => sessionId)
  /** Texts of prompts that were sent from here, by their message. */
  const mine = new Map<string, string>()
  let attending = attend()

  /** I3. */
  function attend(): AbortController {
    const ended = new AbortController()
    const { onPermission, onQuestion } = answers
    const attended = client.attend(sessionId, { onPermission, onQuestion, attempts: ATTEMPTS, signal: ended.signal })
    attended.catch((error: unknown) => (ended.signal.aborted ? undefined : terminal.error(failureText(error))))
    return ended
  }

  /** I4. What others had waiting is shown; what was typed here goes back into the line, the last of it where it can be changed. */
  function giveBack(ids: readonly string[]): void {
    const taken = [...takenBack.texts(), ...ids.map((messageId) => ({ messageId, text: mine.get(messageId) ?? '' }))]
    for (const { text } of taken) if (text !== '') terminal.note(`taken back: ${text.replaceAll('\n', ' / ')}`)
    const all = taken.flatMap(({ messageId }) => mine.get(messageId) ?? []).join('\n')
    for (const { messageId } of taken) mine.delete(messageId)
    const last = all.lastIndexOf('\n') + 1
    if (all !== '' && editor.type(all.slice(last))) lines = all.slice(0, last)
  }
  const statusLine = shareStatusLine(terminal.status)

  function requestOf(text: string, delivery: 'queue' | 'steer'): PromptRequest {
    for (const path of missingFiles(text, directory)) terminal.note(`@${path} leads to no file; it is sent as text`)
    const parts: PromptPart[] = [{ type: 'text', text }, ...attachmentsOf({ files: [], images: [] }, text, directory)]
    return { parts, delivery, ...(model !== undefined && { model }), ...(agent !== undefined && { agent }) }
  }

  function follow(text: string): Promise<void> {
    const followed = turn(text).finally(() => following.delete(followed))
    following.add(followed)
    return followed
  }

  async function turn(text: string): Promise<void> {
    const run = new AbortController()
    runs.add(run)
    const line = statusLine.begin()
    const presentation = createPresentation({ ...terminal, status: line.draw }, { isVerbose: options.isVerbose, isThinking })
    const { onPermission, onQuestion } = answers
    attending.abort()
    const running = client.prompt(sessionId, requestOf(text, 'queue'), {
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
    } finally {
      runs.delete(run)
      presentation.end()
      line.end()
      if (run.signal.aborted) giveBack(isTakenBack && mine.has(messageId) ? [messageId] : [])
      mine.delete(messageId)
      if (runs.size === 0) attending = attend()
    }
  }

  async function command(name: string, rest: string): Promise<void> {
    switch (name) {
      case 'help':
        return terminal.lines(helpLines(commands))
      case 'queue':
        return rest === '' ? terminal.note('what? /queue <prompt>') : follow(rest)
      case 'undo':
      case 'redo':
        await client.sessions[name]({ sessionId, body: {} })
        return terminal.note(name === 'undo' ? 'the last turn is taken back; /redo brings it back' : 'brought back')
      case 'new':
        sessionId = (await client.sessions.create({ directory, body: {} })).id
        if (runs.size === 0) {
          attending.abort()
          attending = attend()
        }
        return terminal.note(`a new session: ${sessionId}`)
      case 'model':
        if (rest === '') return terminal.note(await modelsText(client, directory, model))
        model = await chooseModel(client, directory, rest)
        return terminal.note(`from now on ${model.providerId}/${model.modelId}`)
      case 'agent':
        agent = rest === '' ? undefined : await chooseAgent(client, directory, rest)
        return terminal.note(agent === undefined ? 'from now on the usual agent' : `from now on ${agent}`)
      case 'thinking':
        isThinking = !isThinking
        return terminal.note(isThinking ? 'what the model thinks is shown' : 'what the model thinks is not shown')
      default:
        left.abort()
    }
  }

  async function act(text: string): Promise<void> {
    const typed = understand(text, known)
    if (typed.type === 'nothing') return
    if (typed.type === 'unknown') return terminal.note(typed.hint)
    if (typed.type === 'command') return command(typed.name, typed.rest)
    if (runs.size === 0) return follow(typed.text)
    const messageId = `msg_${randomUUID()}`
    mine.set(messageId, typed.text)
    await client.sessions.prompt({ sessionId, body: { ...requestOf(typed.text, 'steer'), messageId } })
    terminal.note('said to the run that is under way')
  }

  function onLine(line: string): void {
    if (asked !== undefined) {
      const { answer } = asked
      asked = undefined
      return answer(line.trim())
    }
    lines += line
    if (line.endsWith('\\')) {
      lines = `${lines.slice(0, -1)}\n`
      return
    }
    const text = lines
    lines = ''
    act(text).catch((error: unknown) => terminal.error(failureText(error)))
  }

  let warned = ''
  function onInterrupt(typed: string): void {
    const state = `${lines}${typed}`
    lines = ''
    if (state !== '') return
    if (runs.size > 0) {
      terminal.interrupted()
      for (const run of runs) run.abort()
    } else if (warned === sessionId) left.abort()
    else {
      warned = sessionId
      terminal.note('Ctrl-C again, or Ctrl-D, leaves')
    }
  }

  terminal.note('/help lists commands, Ctrl-D leaves')
  const editor = openEditor({
    history: readHistory(),
    complete: (line) => offered(line, known, directory),
    onLine,
    onInterrupt,
    onEnd: () => left.abort(),
    onHistory: keepHistory,
  })
  await new Promise<void>((resolve) => left.signal.addEventListener('abort', () => resolve()))
  for (const run of runs) run.abort()
  await Promise.allSettled(following)
  attending.abort()
  editor.close()
  plain.note(`go on with: svc chat --session ${sessionId}`)
}
