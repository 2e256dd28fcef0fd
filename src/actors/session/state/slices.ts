/**
 * The history of a session, read some at a time: however long it is, others have their turn in between (threat-model §7).
 *
 * I1 A history that fits in one slice is read in the turn it is asked for.
 */
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message, Part } from '../../../protocol/message/message.js'
import type { MessageSliceQuery, MessageText, Store } from '../../../store/store.js'

type SliceSource = { readonly messages: Pick<Store['messages'], 'slice'> }

const CHARACTERS = LIMITS.sessions.sliceCharacters
/** More than the title of a turn has. */
const SHOWN_TEXT = 4 * LIMITS.sessions.titleLength

/** Whole messages as texts, with a turn between two slices. */
export async function* slicesOf(
  { messages }: SliceSource,
  query: Omit<MessageSliceQuery, 'characters'>,
): AsyncGenerator<readonly MessageText[]> {
  let { after, limit } = query
  for (;;) {
    const { items, next } = messages.slice({ ...query, after, limit, characters: CHARACTERS })
    yield items
    limit = limit === undefined ? undefined : limit - items.length
    if (next === undefined || limit === 0) return
    after = next
    await nextTurn()
  }
}

/** Every message, the undone ones included, without what only a model or a reader needs: large texts, inputs, outputs, files. */
export async function outlineOf(source: SliceSource, sessionId: string): Promise<readonly Message[]> {
  const outline: Message[] = []
  for await (const slice of slicesOf(source, { sessionId, order: 'asc', undone: true }))
    for (const { json } of slice) outline.push(lean(JSON.parse(json) as Message))
  return outline
}

/** What is made of a history that was read: yields how many messages it has looked at, and lets others go on after `LIMITS.sessions.sliceMessages` of them. */
export async function inSlices<T>(made: Iterator<number, T>): Promise<T> {
  let looked = 0
  for (;;) {
    const { done, value } = made.next()
    if (done === true) return value
    looked += value
    if (looked < LIMITS.sessions.sliceMessages) continue
    looked = 0
    await nextTurn()
  }
}

function lean({ info, parts }: Message): Message {
  return { info, parts: parts.map(leanPart) }
}

function leanPart(part: Part): Part {
  switch (part.type) {
    case 'text':
      return { ...part, text: part.text.trimStart().slice(0, SHOWN_TEXT) }
    case 'reasoning':
      return { ...part, text: '' }
    case 'file':
      return { ...part, url: '' }
    case 'tool':
      return part.state.status === 'completed' ? { ...part, state: { ...part.state, input: {}, output: '' } } : part
    default:
      return part
  }
}
