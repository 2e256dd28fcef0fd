/**
 * Messages that are stored where nobody sees them yet, however long they are.
 *
 * I1 No turn of the event loop stores much more than a piece, unless one part is longer: that one has a turn of its own.
 */
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message, Part } from '../../../protocol/message/message.js'
import { sizeOf } from '../../../protocol/text/size-of.js'
import type { Rows } from '../state/core.js'

type Stored = Pick<Rows, 'store' | 'journal'>

/** All of them in this turn. */
export function appendAtOnce({ store, journal }: Stored, messages: readonly Message[]): void {
  if (messages.length === 0) return
  journal.commit('process', () => {
    for (const { info, parts } of messages) store.messages.append(info, parts)
  })
}

/** I1: each begins in a turn of its own. */
export async function appendInPieces(core: Stored, messages: readonly Message[]): Promise<void> {
  for (const { info, parts } of messages) {
    await nextTurn()
    appendAtOnce(core, [{ info, parts: [] }])
    for (const piece of piecesOf(parts)) {
      await nextTurn()
      core.journal.commit('process', () => {
        for (const part of piece) core.store.messages.putPart(part)
      })
    }
  }
}

function* piecesOf(parts: readonly Part[]): Generator<readonly Part[], void> {
  let piece: Part[] = []
  let size = 0
  for (const part of parts) {
    const more = sizeOf(part)
    if (piece.length > 0 && size + more > LIMITS.bundles.pieceBytes) {
      yield piece
      piece = []
      size = 0
    }
    piece.push(part)
    size += more
  }
  if (piece.length > 0) yield piece
}
