/** Messages of the session that a plugin serves, and of those below it (`host.message.read`; threat-model K2). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message } from '../../../protocol/message/message.js'
import type { Effects } from '../../../ports/effects.js'
import type { Store } from '../../../store/store.js'
import { type Broker, defineBroker } from './broker.js'
import { type MessageView, messageView, redactor } from './message-view.js'
import { foreign, isInPlace, isOwnSession, mustMeanSession } from './own-sessions.js'

export interface MessageBrokerDeps {
  readonly store: Pick<Store, 'sessions' | 'messages'>
  readonly effects: Pick<Effects, 'env'>
}

const { textBytes, answerBytes } = LIMITS.pluginReads
/** A character of a text has up to six bytes in JSON; what is longer than one answer is shown in less. */
const SHORTER = [textBytes, textBytes / 4, textBytes / 32, textBytes / 256]

export function messageBroker({ store, effects }: MessageBrokerDeps): Broker {
  const redact = redactor(effects.env)

  /** As much of its texts as has room in one answer. */
  const viewOf = (message: Message): MessageView => {
    let view = messageView(message, { redact, most: textBytes })
    for (const most of SHORTER) {
      if (sizeOf(view) <= answerBytes) return view
      view = messageView(message, { redact, most })
    }
    if (sizeOf(view) <= answerBytes) return view
    return { info: view.info, parts: [], cut: true }
  }

  return defineBroker('message-read', (lease) => ({
    operations: {
      list({ sessionId, cursor, limit, order }) {
        const session = mustMeanSession(store.sessions, lease, sessionId)
        if (cursor !== undefined && store.messages.getInfo(cursor)?.sessionId !== session.id)
          throw new SvcError('request.unprocessable', 'the cursor is none of an earlier answer')
        const { items, next } = store.messages.slice({
          sessionId: session.id,
          order: order === 'latest-first' ? 'desc' : 'asc',
          after: cursor,
          limit,
          characters: answerBytes,
        })
        const messages: MessageView[] = []
        let last: string | undefined
        let size = 0
        for (const { id, json } of items) {
          const view = viewOf(JSON.parse(json) as Message)
          size += sizeOf(view)
          if (size > answerBytes && messages.length > 0) break
          messages.push(view)
          last = id
        }
        lease.count(size)
        const isWhole = messages.length === items.length && next === undefined
        return { messages, cursor: isWhole ? null : (last ?? null) }
      },
      get({ messageId }) {
        const message = store.messages.get(messageId)
        // Whose it is, and whether it is there, is told of its own alone.
        if (message === undefined || !isOwnSession(store.sessions, lease, message.info.sessionId)) throw foreign(messageId)
        const view = viewOf(message)
        lease.count(sizeOf(view))
        return { message: view }
      },
      sessions(input) {
        const { id } = mustMeanSession(store.sessions, lease, input?.sessionId)
        const members = store.sessions.family(id).flatMap((member) => store.sessions.get(member) ?? [])
        return {
          sessions: members
            .filter((session) => isInPlace(session, lease.place))
            .map(({ id: member, parentId = null, title, agent = null }) => ({ sessionId: member, parentId, title, agent })),
        }
      },
    },
  }))
}

function sizeOf(view: MessageView): number {
  return Buffer.byteLength(JSON.stringify(view))
}
