/**
 * Deltas of one step on their way to the recorder. A model writes one or two in a turn of the event loop. The first passes as it comes, so that
 * whoever waits for it has it; of more than a few the rest of the turn is joined, so that its cost grows with its text and not with its pieces:
 * nobody would hear of them one by one anyway.
 *
 * I1 Order is kept: what is joined passes before anything else does.
 * I2 What comes behind the first passes at the end of the turn, or when it is long.
 */
import type { StreamPart } from '../../../../ports/provider-adapter.js'

type Delta = Extract<StreamPart, { readonly delta: string }>

/** Deltas behind the first that pass each by itself. */
const FEW = 3
/** Characters that are joined to one delta. */
const LONGEST = 16_384

export interface JoinedDeltas {
  push(part: StreamPart): void
  /** Passes what was joined. */
  flush(): void
}

/** `soon` runs a callback at the end of the turn; what `pass` throws there goes to `onFault`. */
export function joinDeltas(pass: (part: StreamPart) => void, onFault: (error: unknown) => void, soon = setImmediate): JoinedDeltas {
  let joined: { readonly first: Delta; readonly pieces: string[]; length: number } | undefined
  let isTurnKnown = false

  function flush(): void {
    if (joined === undefined) return
    const { first, pieces } = joined
    joined = undefined
    for (const delta of pieces.length > FEW ? [pieces.join('')] : pieces) pass({ ...first, delta })
  }

  function endTurn(): void {
    isTurnKnown = false
    try {
      flush()
    } catch (error) {
      onFault(error)
    }
  }

  return {
    flush,
    push(part) {
      if (!('delta' in part)) {
        flush()
        return pass(part)
      }
      if (!isTurnKnown) {
        isTurnKnown = true
        soon(endTurn)
        return pass(part)
      }
      if (joined !== undefined && (!isSameText(joined.first, part) || joined.length + part.delta.length > LONGEST)) flush()
      joined ??= { first: part, pieces: [], length: 0 }
      joined.pieces.push(part.delta)
      joined.length += part.delta.length
    },
  }
}

function isSameText(a: Delta, b: Delta): boolean {
  if (a.type === 'tool-input') return b.type === 'tool-input' && a.callId === b.callId
  if (a.type === 'reasoning') return b.type === 'reasoning' && a.id === b.id
  return a.type === b.type
}
