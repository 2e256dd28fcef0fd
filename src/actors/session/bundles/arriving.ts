/** What arrives of a bundle is stored while the rest of it is on its way. */
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message } from '../../../protocol/message/message.js'
import { wellFormedValue } from '../../../protocol/text/well-formed.js'
import type { IncomingArtifacts } from '../../artifact/incoming.js'
import type { Rows } from '../state/core.js'
import { appendAtOnce, appendInPieces } from '../history/append-pieces.js'
import { copier, isOpen } from '../history/fork.js'
import { withoutNotes } from '../history/history.js'
import { interruptedPart } from '../history/interrupted-part.js'
import type { Arrived } from './read-bundle.js'

/** What is written before it is synced, beside the event loop: the store's own syncs, which hold it, then find little to do. */
const SYNC_BYTES = 4 * 1024 * 1024
const UNKEPT = 'the call came with a bundle, and what it changed is not known here'

/** Stores what arrives. Files that messages tell of by the address of an artifact before them are found at its new one. */
export function arrivals(
  core: Rows,
  id: string,
  artifacts: IncomingArtifacts,
): (arrived: readonly Arrived[], bytes: number) => Promise<void> {
  const copies = copier(core, id)
  let unsynced = 0
  const addresses = new Map<string, string>()
  const keep = async (each: Exclude<Arrived, { readonly type: 'message' }>) => {
    if (each.type === 'content') return artifacts.write(each.bytes)
    const { downloadUrl } = await artifacts.begin(each.told, id)
    addresses.set(each.told.downloadUrl, downloadUrl)
  }
  return async (arrived, bytes) => {
    for (const each of arrived) if (each.type !== 'message') await keep(each)
    // A message that was being generated is left out, as it is when a session is forked.
    const messages = arrived.flatMap((each) => (each.type === 'message' && !isOpen(each.message.info) ? [each.message] : []))
    const copied = messages.map((each) => endedMessage(copies(readdressed(each, addresses))))
    if (bytes <= LIMITS.bundles.pieceBytes) appendAtOnce(core, copied)
    else await appendInPieces(core, copied)
    unsynced += bytes
    if (unsynced < SYNC_BYTES) return nextTurn()
    unsynced = 0
    await core.journal.synced()
  }
}

function readdressed({ info, parts }: Message, addresses: ReadonlyMap<string, string>): Message {
  return {
    info,
    parts: parts.map((part) => (part.type === 'file' ? { ...part, url: addresses.get(part.url) ?? part.url } : part)),
  }
}

/** What it says is running was interrupted, and what undo would write is forgotten. */
function endedMessage(message: Message): Message {
  const { info, parts } = wellFormedValue(message)
  const ended = info.role === 'assistant' ? (info.time.completed ?? info.time.created) : info.time.created
  return { info, parts: parts.map((part) => interruptedPart(withoutNotes(part, UNKEPT), ended)) }
}
