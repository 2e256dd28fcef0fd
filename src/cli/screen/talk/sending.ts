/**
 * What is said in a conversation, and done with what is typed.
 *
 * I1 What is sent is sent in the order it was typed, and an abort after all that was sent before it.
 * I2 What could not be sent, or was taken back before it was, goes back to where it was typed.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { understand } from '../../commands/chat/chat-lines.js'
import { type Spoken, spokenOf } from '../../commands/chat/slash/slash-command.js'
import { SLASH } from '../../commands/chat/slash/slash-commands.js'
import { isAway } from './following.js'
import { partsOf, type Said } from './said.js'
import { choose, clientOf, fail, note, type Talk, tell } from './talk.js'

/** Between two tries to reach the server. */
const AGAIN_MS = 500
/** A prompt that was admitted begins within moments. */
const BEGINS_MS = 25
const MOST_TRIES = 80

/** A command, a prompt, or a line for the shell. */
export function say(talk: Talk, said: Said, isRunning: boolean): void {
  if (talk.connection === undefined) return sayOnceOpen(talk, said)
  const known = talk.commands.map(({ name }) => name)
  const typed = understand(said.text, known)
  if (typed.type === 'nothing') return
  if (typed.type === 'unknown') return note(talk, typed.hint)
  if (typed.type === 'command') return run(talk, typed.name, typed.rest)
  if (/^!\s*\S/.test(typed.text)) return shell(talk, typed.text.slice(1).trim())
  void send(talk, { ...said, text: typed.text }, isRunning || talk.waiting.size > 0 ? 'steer' : 'queue')
}

/** What is typed before the server is there waits for it: opening is the first work of the lane. */
function sayOnceOpen(talk: Talk, said: Said): void {
  const id = randomUUID()
  talk.waiting.set(id, said.text)
  talk.onChange()
  void talk.lane.run(async () => {
    talk.waiting.delete(id)
    if (talk.connection !== undefined) say(talk, said, false)
  })
}

function run(talk: Talk, name: string, rest: string): void {
  const act = async () => SLASH[name]?.run(spokenIn(talk), rest)
  act().catch((error: unknown) => fail(talk, error))
}

/** The session that is spoken in; the first prompt makes one. */
async function session(talk: Talk): Promise<string> {
  if (talk.sessionId !== undefined) return talk.sessionId
  const waiting = [...talk.waiting]
  const { id } = await clientOf(talk).sessions.create({ directory: talk.directory, body: {} })
  choose(talk, id)
  for (const [messageId, text] of waiting) talk.waiting.set(messageId, text)
  return id
}

/** I1, I2 */
function send(talk: Talk, { text, images }: Said, delivery: 'steer' | 'queue'): Promise<void> {
  const { waiting, lane, unsent } = talk
  const messageId = `msg_${randomUUID()}`
  waiting.set(messageId, text)
  // From now on there is something to be stopped.
  talk.machine({ type: 'run.began' })
  talk.onChange()
  const sending = lane.run(async () => {
    const sessionId = await session(talk)
    if (talk.isEchoed === true && delivery === 'queue') talk.echoed.add(messageId)
    const { model, agent, directory, agents, facts } = talk
    const place = { client: clientOf(talk), directory, agents, model: model ?? facts.model, note: (said: string) => note(talk, said) }
    const parts = await partsOf(place, { text, images })
    const body = { messageId, delivery, parts, ...(model !== undefined && { model }), ...(agent !== undefined && { agent }) }
    await untilSent(unsent.signal, () => clientOf(talk).sessions.prompt({ sessionId, body }))
  })
  return sending.catch((error: unknown) => {
    if (talk.runId === undefined) talk.machine({ type: 'run.ended' })
    if (!waiting.delete(messageId)) return
    talk.giveBack([text])
    if (!unsent.signal.aborted) fail(talk, error)
  })
}

/** Again and again while the server is away, and nobody has taken it back. */
async function untilSent(signal: AbortSignal, call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      await call()
      return
    } catch (error) {
      if (!isAway(error)) throw error
      await delay(AGAIN_MS, undefined, { signal })
    }
  }
}

/** Answers once the command has ended: nothing waits for that. */
function shell(talk: Talk, command: string): void {
  talk.lane
    .run(() => session(talk))
    .then((sessionId) => clientOf(talk).sessions.shell({ sessionId, body: { command } }))
    .catch((error: unknown) => fail(talk, error))
}

/** I1. What waits behind the run goes with it, and what waits for the server. */
export function abort(talk: Talk): void {
  talk.unsent.abort(new Error('taken back'))
  talk.unsent = new AbortController()
  const ending = talk.lane.run(async () => {
    // What came too late ends nothing: the next run may be at work by now.
    if (!(await isEnding(talk))) talk.machine({ type: talk.runId === undefined ? 'run.ended' : 'run.followed' })
  })
  ending.catch((error: unknown) => fail(talk, error))
}

/** What was admitted and has not begun is neither a run nor in the queue: it is looked for again until it is one of both. */
async function isEnding(talk: Talk): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { sessionId, waiting } = talk
    if (sessionId === undefined) return false
    const isBeginning = waiting.size > 0
    // Bound to the run that is shown, unless it is not known which one takes what was sent.
    const { runId } = talk
    const isShown = !isBeginning && runId !== undefined
    if (await clientOf(talk).sessions.abort({ sessionId, body: { queue: 'clear', ...(isShown && { runId }) } })) return true
    if (!isBeginning) return false
    await delay(BEGINS_MS)
  }
  return false
}

/** The conversation as commands see it. */
function spokenIn(talk: Talk): Spoken {
  return spokenOf(talk, {
    client: clientOf(talk),
    directory: talk.directory,
    commands: talk.commands,
    note: (text) => note(talk, text),
    lines: (lines) => tell(talk, lines),
    width: talk.width,
    queue: (text) => send(talk, { text, images: [] }, 'queue'),
    async enter(sessionId) {
      const { sessions } = clientOf(talk)
      const { id, title } = await (sessionId === undefined
        ? sessions.create({ directory: talk.directory, body: {} })
        : sessions.get({ sessionId }))
      choose(talk, id)
      note(talk, sessionId === undefined ? `a new session: ${id}` : `going on in ${id} (${title})`)
    },
    leave: () => talk.machine({ type: 'person.left' }),
  })
}
