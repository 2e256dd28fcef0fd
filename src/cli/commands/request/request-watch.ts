/** `svc requests --watch`: what is asked and answered from now on, until Ctrl-C. */
import type { Connection } from '../../connection.js'
import { eventHints } from '../../event-hints.js'
import { outcomeText } from '../../answers/outcome-text.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { ListOptions } from './request-arguments.js'
import { type Waiting, waitingRequests, waitingText } from './waiting.js'

/** After events of these types something else may wait. */
const isHint = (type: string) => /^(?:permission|question)\./.test(type)

/** What waits is listed once the stream is open, and whenever it says that something may have changed. Answers 0. */
export async function watchRequests({ client, open }: Connection, { session, json }: ListOptions): Promise<number> {
  const { signal, forget } = watchInterrupts(() => undefined)
  const told = new Map<string, Waiting>()

  async function look(): Promise<void> {
    const waiting = await waitingRequests(client, session)
    for (const each of waiting) {
      if (!told.has(each.id)) writeOut(json ? `${jsonText({ event: 'waits', ...each })}\n` : waitingText(each))
      told.set(each.id, each)
    }
    const ids = new Set(waiting.map(({ id }) => id))
    for (const each of told.values()) if (!ids.has(each.id)) await settled(each)
  }

  async function settled({ id: requestId, number, type }: Waiting): Promise<void> {
    told.delete(requestId)
    const { interactions } = client
    const outcome = await (type === 'question' ? interactions.questions : interactions.permissions).get({ requestId })
    writeOut(json ? `${jsonText({ event: 'settled', number, ...outcome })}\n` : `${number}  ${outcomeText(outcome) ?? ''}\n`)
  }

  try {
    let isFirst = true
    for await (const _ of eventHints(open, isHint, signal)) {
      await look()
      if (isFirst && told.size === 0 && !json) writeError('nothing waits yet; what is asked is told here, Ctrl-C leaves\n', 'dim')
      isFirst = false
    }
    return 0
  } catch (error) {
    if (signal.aborted) return 0
    throw error
  } finally {
    forget()
  }
}
