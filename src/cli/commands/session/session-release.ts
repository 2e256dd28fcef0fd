/** `svc session release`: gives prompts their turn that wait for a person, as those do that came with a bundle. */
import type { Client } from '../../../published/client/client-types.js'
import type { Connection } from '../../connection.js'
import { createAnswers } from '../../answers/answers.js'
import { createTerminal } from '../../terminal/terminal.js'
import { SvcError } from '../../../protocol/errors.js'
import type { SessionQueueInfo } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import type { ReleaseOptions } from './session-arguments.js'
import { findSession } from './session-find.js'

/** Releases the oldest, that of a message, or all there are, in their order; prints what they say, and answers 0. */
export async function releasePrompts({ client, isOwn }: Connection, { id: named, message, all, json }: ReleaseOptions): Promise<number> {
  const { id: sessionId } = await findSession(client, named)
  const held = heldOf(await client.sessions.queue.list({ sessionId }))
  const wanted = message === undefined ? held.slice(0, all ? held.length : 1) : held.filter(({ messageId }) => messageId === message)
  if (wanted.length === 0) {
    const what = message === undefined ? 'no prompt' : `no prompt "${message}"`
    throw new SvcError('resource.not_found', `There is ${what} of ${sessionId} that is held.`, { sessionId })
  }
  const released: Held[] = []
  for (const each of wanted) {
    const answer = await client.sessions.queue.release({ sessionId, messageId: each.messageId })
    if (answer.released > 0) released.push(each)
  }
  const left = held.length - wanted.length
  if (json) writeOut(`${jsonText({ id: sessionId, released, held: left }, 2)}\n`)
  else {
    for (const { text } of released) writeOut(`released: ${printable(text)}\n`)
    if (left > 0) writeOut(`still held: ${left}\n`)
  }
  if (isOwn) await settled(client, sessionId)
  return 0
}

/** The server ends with the command: not before what was released has run. */
async function settled(client: Client, sessionId: string): Promise<void> {
  const ended = new AbortController()
  const { onPermission, onQuestion } = createAnswers('ask', createTerminal(), () => client.interactions)
  const attended = client.attend(sessionId, { onPermission, onQuestion, signal: ended.signal })
  await Promise.race([attended, client.sessions.wait({ sessionId })]).finally(() => ended.abort())
}

interface Held {
  readonly messageId: string
  readonly text: string
}

function heldOf({ items }: SessionQueueInfo): readonly Held[] {
  return items.flatMap(({ held, messageId, text }) =>
    held === true && messageId !== undefined ? [{ messageId, text: text ?? 'a prompt without text' }] : [],
  )
}
