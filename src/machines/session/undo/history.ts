/** Places in the whole history of a session, the undone part included, and the steps between them (sessions-events §7). */
import type { Message, Part } from '../../../protocol/message/message.js'
import { ChangeNotes, type FileSnapshot } from '../../../protocol/session/snapshot.js'

/** Where the undone part begins: a message, or a part of one; nothing is undone without it. */
export interface Mark {
  readonly messageID: string
  readonly partID?: string | undefined
}

/** The first message and part behind a boundary. */
export interface Boundary {
  readonly message: number
  readonly part: number
}

/** Undefined when there is no such place. */
export function boundaryOf(history: readonly Message[], mark: Mark | undefined): Boundary | undefined {
  if (mark === undefined) return { message: history.length, part: 0 }
  const message = history.findIndex(({ info }) => info.id === mark.messageID)
  if (message === -1) return undefined
  if (mark.partID === undefined) return { message, part: 0 }
  const part = history[message]?.parts.findIndex(({ id }) => id === mark.partID) ?? -1
  return part === -1 ? undefined : { message, part }
}

export function isBefore(a: Boundary, b: Boundary): boolean {
  return a.message < b.message || (a.message === b.message && a.part < b.part)
}

/** Parts between two boundaries, in their order. */
export function partsBetween(history: readonly Message[], first: Boundary, last: Boundary): Part[] {
  return history
    .slice(first.message, last.message + 1)
    .flatMap(({ parts }, index) =>
      parts.slice(index === 0 ? first.part : 0, first.message + index === last.message ? last.part : parts.length),
    )
}

/** Somebody asked for something; a compaction only leaves its mark. */
export function isTurn({ info, parts }: Message): boolean {
  return info.role === 'user' && !parts.some(({ type }) => type === 'compaction')
}

/** The last user message before a mark, or of all: where an undo leads to. */
export function stepBack(history: readonly Message[], mark: Mark | undefined): Mark | undefined {
  const end = boundaryOf(history, mark)?.message ?? history.length
  const before = history.slice(0, end).findLast(isTurn)
  return before === undefined ? undefined : { messageID: before.info.id }
}

/** The next user message behind a mark: where a redo leads to. Undefined: to the end. */
export function stepForward(history: readonly Message[], mark: Mark): Mark | undefined {
  const start = boundaryOf(history, mark)?.message ?? history.length
  const next = history.slice(start + 1).find(isTurn)
  return next === undefined ? undefined : { messageID: next.info.id }
}

/** What a part says of files, in the order it happened; `unkept`: why it cannot be undone. */
export function changesOf(part: Part): { readonly snapshots: readonly FileSnapshot[]; readonly unkept?: string } {
  if (part.type !== 'tool') return NO_CHANGES
  const settled = part.state.status === 'completed' ? part.state.metadata : part.metadata
  const notes = ChangeNotes.safeParse(settled ?? {})
  if (!notes.success) return { snapshots: [], unkept: `what the call of "${part.tool}" says of files cannot be read` }
  const { snapshots = [], unkept } = notes.data
  if (unkept !== undefined) return { snapshots, unkept }
  return isCutShort(settled)
    ? { snapshots, unkept: `the call of "${part.tool}" was cut short, and what it changed is not known` }
    : { snapshots }
}

const NO_CHANGES = { snapshots: [] } as const

/** It was being executed when its run ended. */
function isCutShort(metadata: unknown): boolean {
  return typeof metadata === 'object' && metadata !== null && 'changing' in metadata && 'interrupted' in metadata
}
