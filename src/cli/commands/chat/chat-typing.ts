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
import { understand } from './chat-lines.js'
import { type Spoken, spokenOf } from './slash/slash-command.js'
import { SLASH } from './slash/slash-commands.js'
import { attend, follow, interrupt, requestOf, type Talk } from './chat-turns.js'
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
    void interrupt(talk)
  } else if (talk.warned === talk.sessionId) talk.left.abort()
  else {
    talk.warned = talk.sessionId
    terminal.note('Ctrl-C again, or Ctrl-D, leaves')
  }
}

/** I1 */
async function act(talk: Typing, text: string): Promise<void> {
  const { terminal, mine, steering } = talk
  const typed = understand(text, talk.known)
  if (typed.type === 'nothing') return
  if (typed.type === 'unknown') return terminal.note(typed.hint)
  if (typed.type === 'command') return command(talk, typed.name, typed.rest)
  if (/^!\s*\S/.test(typed.text)) terminal.note('"!" runs a command of yours in svc, the whole screen; here it is said to the model')
  if (talk.runs.size === 0) return follow(talk, typed.text)
  const messageId = `msg_${randomUUID()}`
  mine.set(messageId, typed.text)
  await steering.send({ sessionId: talk.sessionId, request: { ...requestOf(talk, typed.text, 'steer'), messageId } })
  terminal.note('said to the run that is under way')
}

async function command(talk: Typing, name: string, rest: string): Promise<void> {
  await SLASH[name]?.run(spokenIn(talk), rest)
}

/** The chat as commands see it. */
function spokenIn(talk: Typing): Spoken {
  const { client, directory, commands, terminal } = talk
  return spokenOf(talk, {
    client,
    directory,
    commands,
    note: terminal.note,
    lines: terminal.lines,
    width: terminal.width,
    queue: (text) => follow(talk, text),
    async enter(sessionId) {
      talk.sessionId = sessionId ?? (await client.sessions.create({ directory, body: {} })).id
      if (talk.runs.size === 0) {
        talk.attending.abort()
        talk.attending = attend(talk)
      }
      terminal.note(sessionId === undefined ? `a new session: ${talk.sessionId}` : `going on in ${sessionId}`)
    },
    leave: () => talk.left.abort(),
  })
}
