/**
 * What is done with what is typed in a chat: an answer, a command, a prompt; and with Ctrl-C.
 *
 * I1 What is typed while a run is under way steers it, and is shown by the one that follows that run.
 * I2 A prompt of `/queue` is followed by itself: nothing of it is told before its run begins.
 * I3 Ctrl-C ends what is under way with everything that waits behind it: nothing runs unseen (choice 41).
 */
import { randomUUID } from 'node:crypto'
import type { Client } from '../../../published/client/client-types.js'
import { failureText } from '../../failure.js'
import { chooseModel } from '../run/model-choice.js'
import { moveTurns, turnText } from '../session/moved-turns.js'
import { chooseAgent, modelsText } from './chat-choices.js'
import { helpLines, understand } from './chat-lines.js'
import { attend, follow, requestOf, type Talk } from './chat-turns.js'
import type { Asking } from './asking.js'

/** A chat, and who types in it. */
export interface Typing extends Talk {
  readonly asking: Asking
  /** Commands of the configuration, and their names. */
  readonly commands: Awaited<ReturnType<Client['commands']['list']>>
  readonly known: readonly string[]
  /** Aborted when the person leaves. */
  readonly left: AbortController
  /** The session in which Ctrl-C was pressed while nothing was under way. */
  warned: string
}

export function onLine(talk: Typing, line: string): void {
  const { asking, terminal } = talk
  if (asking.answer !== undefined) {
    const { answer } = asking
    asking.answer = undefined
    return answer(line.trim())
  }
  talk.lines += line
  if (line.endsWith('\\')) {
    talk.lines = `${talk.lines.slice(0, -1)}\n`
    return
  }
  const text = talk.lines
  talk.lines = ''
  act(talk, text).catch((error: unknown) => terminal.error(failureText(error)))
}

/** I3 */
export function onInterrupt(talk: Typing, typed: string): void {
  const { runs, terminal } = talk
  const state = `${talk.lines}${typed}`
  talk.lines = ''
  if (state !== '') return
  if (runs.size > 0) {
    terminal.interrupted()
    for (const run of runs) run.abort()
  } else if (talk.warned === talk.sessionId) talk.left.abort()
  else {
    talk.warned = talk.sessionId
    terminal.note('Ctrl-C again, or Ctrl-D, leaves')
  }
}

/** I1 */
async function act(talk: Typing, text: string): Promise<void> {
  const { client, terminal, mine } = talk
  const typed = understand(text, talk.known)
  if (typed.type === 'nothing') return
  if (typed.type === 'unknown') return terminal.note(typed.hint)
  if (typed.type === 'command') return command(talk, typed.name, typed.rest)
  if (talk.runs.size === 0) return follow(talk, typed.text)
  const messageId = `msg_${randomUUID()}`
  mine.set(messageId, typed.text)
  await client.sessions.prompt({ sessionId: talk.sessionId, body: { ...requestOf(talk, typed.text, 'steer'), messageId } })
  terminal.note('said to the run that is under way')
}

async function command(talk: Typing, name: string, rest: string): Promise<void> {
  const { client, directory, terminal, commands } = talk
  switch (name) {
    case 'help':
      return terminal.lines(helpLines(commands))
    case 'queue':
      return rest === '' ? terminal.note('what? /queue <prompt>') : follow(talk, rest)
    case 'undo':
    case 'redo':
      for (const turn of (await moveTurns(client, name, talk.sessionId, undefined)).moved)
        terminal.note(name === 'undo' ? `taken back: ${turnText(turn)}; /redo brings it back` : `brought back: ${turnText(turn)}`)
      return
    case 'new':
      talk.sessionId = (await client.sessions.create({ directory, body: {} })).id
      if (talk.runs.size === 0) {
        talk.attending.abort()
        talk.attending = attend(talk)
      }
      return terminal.note(`a new session: ${talk.sessionId}`)
    case 'model':
      if (rest === '') return terminal.note(await modelsText(client, directory, talk.model))
      talk.model = await chooseModel(client, directory, rest)
      return terminal.note(`from now on ${talk.model.providerId}/${talk.model.modelId}`)
    case 'agent':
      talk.agent = rest === '' ? undefined : await chooseAgent(client, directory, rest)
      return terminal.note(talk.agent === undefined ? 'from now on the usual agent' : `from now on ${talk.agent}`)
    case 'thinking':
      talk.isThinking = !talk.isThinking
      return terminal.note(talk.isThinking ? 'what the model thinks is shown' : 'what the model thinks is not shown')
    default:
      talk.left.abort()
  }
}
