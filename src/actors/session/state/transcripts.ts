/**
 * Messages of awake sessions, kept so that a step need not read and parse the whole history again.
 *
 * I1 Rows are the truth: whoever writes a message row of a session in another way than through the recorder
 *    or the append of a prompt calls `forget`.
 * I2 Bounded: beyond `MAX_SESSIONS` the session used longest ago is forgotten; it is read again when needed.
 */
import { createLru } from '../../../kernel/lru.js'
import type { Message } from '../../../protocol/message/message.js'
import type { Store } from '../../../store/store.js'

const MAX_SESSIONS = 64

export interface Transcripts {
  /** All messages, oldest first. The list is shared: readers do not change it, and nothing but its end changes; another list is another history. */
  of(sessionId: string): readonly Message[]
  /** Adds a stored message, if the session is kept; one that was read from its rows meanwhile is put in its place. */
  append(message: Message): void
  /** Puts a changed message in the place of the one it was, if the session is kept. */
  replace(message: Message): void
  forget(sessionId: string): void
}

export function createTranscripts(store: Pick<Store, 'messages'>): Transcripts {
  const kept = createLru<string, { readonly list: Message[]; readonly ids: Set<string> }>(MAX_SESSIONS)
  const replace = (message: Message): boolean => {
    const { id, sessionId } = message.info
    const known = kept.get(sessionId)
    if (known?.ids.has(id) !== true) return false
    const at = known.list.findLastIndex(({ info }) => info.id === id)
    kept.set(sessionId, { ...known, list: known.list.with(at, message) })
    return true
  }
  return {
    of(sessionId) {
      const known = kept.get(sessionId)
      if (known !== undefined) return known.list
      const list = store.messages.all(sessionId)
      kept.set(sessionId, { list, ids: new Set(list.map(({ info }) => info.id)) })
      return list
    },
    append(message) {
      const known = kept.get(message.info.sessionId)
      if (known === undefined || known.list.at(-1) === message || replace(message)) return
      known.list.push(message)
      known.ids.add(message.info.id)
    },
    replace: (message) => void replace(message),
    forget(sessionId) {
      kept.delete(sessionId)
    },
  }
}
