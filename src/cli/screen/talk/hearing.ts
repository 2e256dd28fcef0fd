/**
 * What is heard of a conversation.
 *
 * I1 What is heard while the state of the server is read is heard after it.
 * I2 What an abort takes from the queue is given back to whoever typed it; of others it is shown.
 */
import type { Heard } from '../story/heard.js'
import { withEvent, withQueue, withSession } from './facts.js'
import { readKnown } from './known.js'
import { clientOf, note, type Talk } from './talk.js'

export function hear(talk: Talk, event: Heard): void {
  if (talk.held !== undefined) return void talk.held.push(event)
  const { sessionId = '', machine } = talk
  talk.stories.at(-1)?.hear(event)
  talk.requests.hear(event)
  talk.facts = withEvent(talk.facts, sessionId, event)
  talk.takenBack.see(event)
  if (event.type === 'message.updated') {
    talk.told.add(event.data.info.id)
    talk.waiting.delete(event.data.info.id)
  }
  if (event.type === 'session.status' && event.data.sessionID === sessionId) {
    const { type, runID } = event.data.status
    const isNext = talk.runId !== undefined && runID !== talk.runId
    talk.runId = runID
    machine({ type: type === 'idle' ? 'run.ended' : 'run.began' })
    if (isNext && runID !== undefined) machine({ type: 'run.followed' })
  }
  if (event.type === 'session.queue.updated' && event.data.action === 'clear') giveBack(talk)
  if (event.type === 'session.deleted' && event.data.sessionID === sessionId)
    machine({ type: 'link.refused', failure: new Error('The session was deleted.') })
  talk.onChange()
}

/** I2 */
function giveBack(talk: Talk): void {
  const mine: string[] = []
  for (const { messageId, text } of talk.takenBack.texts()) {
    const own = talk.waiting.get(messageId)
    talk.waiting.delete(messageId)
    if (own === undefined) note(talk, `taken back: ${text}`)
    else mine.push(own)
  }
  if (mine.length > 0) talk.giveBack(mine)
}

/** Reads what the server keeps, once its stream is open (I1). */
export async function readAgain(talk: Talk, signal: AbortSignal): Promise<void> {
  const { sessionId = '', told } = talk
  talk.held = []
  const isFirst = told.size === 0
  const known = await readKnown(clientOf(talk), sessionId, (id) => told.has(id), signal)
  if (signal.aborted) return
  const { held = [] } = talk
  talk.held = undefined
  talk.requests.keep(known.open)
  talk.facts = withQueue(withSession(talk.facts, known.session), known.queue)
  if (isFirst && known.isLonger) note(talk, `there is more above: svc session show ${sessionId}`)
  for (const event of [...known.events, ...held]) hear(talk, event)
  talk.onChange()
}
