/** The turns of a session as the undo tree shows them (sessions-events §7.8). */
import { LIMITS } from '../../../protocol/limits.js'
import type { Message, Part } from '../../../protocol/message/message.js'
import type { FileSnapshot } from '../../../protocol/session/snapshot.js'
import type { SessionUndoTree, UndoTreeNode } from '../../../protocol/session/undo.js'
import { type Boundary, boundaryOf, changesOf, isBefore, isTurn, type Mark, partsBetween } from './history.js'

interface MarkedAt extends Mark {
  readonly time: number
}

/** Yields the number of messages of each turn it has looked at, so that whoever drives it may pause; returns the tree. */
export function* undoTree(sessionID: string, history: readonly Message[], mark: MarkedAt | undefined): Generator<number, SessionUndoTree> {
  const boundary = boundaryOf(history, mark) ?? { message: history.length, part: 0 }
  const starts = history.flatMap((message, index) => (isTurn(message) ? [index] : []))
  const nodes: UndoTreeNode[] = []
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? history.length
    const previous = nodes.at(-1)
    const node = nodeOf(history.slice(start, end), statusOf(start, end, boundary))
    nodes.push(previous === undefined ? node : { ...node, parentID: previous.id })
    yield end - start
  }
  const last = nodes.findLast(({ status }) => status !== 'reverted')
  return {
    sessionID,
    ...(last !== undefined && { cursor: { messageID: last.messageID, ...(last.status === 'partial' && partOf(mark)) } }),
    ...(mark !== undefined && {
      revert: { messageID: mark.messageID, ...partOf(mark), time: mark.time, ...removedFrom(history, boundary) },
    }),
    nodes,
  }
}

function partOf(mark: Mark | undefined): { partID?: string } {
  return mark?.partID === undefined ? {} : { partID: mark.partID }
}

function statusOf(start: number, end: number, boundary: Boundary): UndoTreeNode['status'] {
  if (!isBefore({ message: start, part: 0 }, boundary)) return 'reverted'
  return isBefore(boundary, { message: end, part: 0 }) ? 'partial' : 'applied'
}

function nodeOf(turn: readonly Message[], status: UndoTreeNode['status']): UndoTreeNode {
  const [first] = turn
  const id = first?.info.id ?? ''
  const parts = turn.flatMap((message) => message.parts)
  return {
    id,
    messageID: id,
    status,
    title: titleOf(first),
    time: first?.info.time.created ?? 0,
    messageIDs: turn.map(({ info }) => info.id),
    parts: parts.map((part) => ({
      messageID: part.messageId,
      partID: part.id,
      type: part.type,
      ...(part.type === 'tool' && { tool: part.tool, ...(part.state.status === 'completed' && { title: part.state.title }) }),
      snapshots: countOf(snapshotsOf([part])),
    })),
    snapshots: countOf(snapshotsOf(parts)),
  }
}

function titleOf(message: Message | undefined): string {
  const { titleLength } = LIMITS.sessions
  const text = message?.parts.find((part) => part.type === 'text')
  const line = text?.type === 'text' ? (/\S[^\n]*/.exec(text.text)?.[0].trimEnd() ?? '') : ''
  const plain = line.slice(0, 2 * titleLength).replace(/[\r\u2028\u2029]/g, '')
  return plain.length <= titleLength ? plain : [...plain].slice(0, titleLength).join('')
}

function snapshotsOf(parts: readonly Part[]): FileSnapshot[] {
  return parts.flatMap((part) => changesOf(part).snapshots)
}

function countOf(snapshots: readonly FileSnapshot[]) {
  const paths = [...new Set(snapshots.map(({ path }) => path))]
  const refs = refsOf(snapshots)
  return { files: paths.length, ...(paths.length > 0 && { paths }), ...(refs.length > 0 && { refs }) }
}

function removedFrom(history: readonly Message[], boundary: Boundary) {
  const parts = partsBetween(history, boundary, { message: history.length, part: 0 })
  const snapshots = snapshotsOf(parts)
  return {
    messages: history.length - boundary.message - (boundary.part > 0 ? 1 : 0),
    parts: parts.length,
    snapshots: snapshots.length,
    files: [...new Set(snapshots.map(({ path }) => path))],
    snapshotRefs: refsOf(snapshots),
  }
}

/** Digests of contents that are kept beside. */
function refsOf(snapshots: readonly FileSnapshot[]): string[] {
  const states = snapshots.flatMap(({ before, after }) => [before, after])
  return [...new Set(states.flatMap(({ stored, sha256 }) => (stored === true && sha256 !== undefined ? [sha256] : [])))]
}
