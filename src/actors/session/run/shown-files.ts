/** Large files that a result shows are stored before the result is, a piece in a turn of the loop (architecture law 2: nothing refers to them until then). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LIMITS } from '../../../protocol/limits.js'
import type { ToolResult } from '../../plugin/native/native.js'
import type { SessionCore } from '../core.js'

const { keptApart, pieceOfContent } = LIMITS.store
/** Text that JSON shows as it is. */
const PLAIN = /^[A-Za-z0-9+/=]*$/
const DATA = /^data:[\w.+/-]{1,100};base64,/

type Shown = NonNullable<ToolResult['attachments']>[number]

/** The result with its large files stored for the session; others stay as they are. Throws `store.unavailable` when the disk fails. */
export async function keepContents(
  core: Pick<SessionCore, 'store' | 'effects'>,
  sessionId: string,
  result: ToolResult,
): Promise<ToolResult> {
  if (result.attachments?.some(isLarge) !== true) return result
  const attachments: Shown[] = []
  for (const file of result.attachments) attachments.push(isLarge(file) ? await keepFile(core, sessionId, file) : file)
  return { ...result, attachments }
}

function isLarge({ url }: Shown): boolean {
  return url.length > keptApart && DATA.test(url.slice(0, 200))
}

async function keepFile({ store, effects }: Pick<SessionCore, 'store' | 'effects'>, sessionId: string, file: Shown): Promise<Shown> {
  const { url } = file
  const from = url.indexOf(',') + 1
  const pieces = Math.ceil((url.length - from) / pieceOfContent)
  const piece = (index: number) => url.slice(from + index * pieceOfContent, from + (index + 1) * pieceOfContent)
  const shown = { type: 'file' as const, ...file }
  const hasher = effects.hasher()
  for (let index = 0; index < pieces; index++) {
    const text = piece(index)
    if (!PLAIN.test(text)) return file
    hasher.update(Buffer.from(text, 'latin1'))
    await nextTurn()
  }
  const sha256 = hasher.digest()
  const known = store.contents.find(sessionId, sha256)
  store.contents.refer(shown, known ?? (await write()), sessionId, url.length - from)
  return shown

  async function write(): Promise<string> {
    const fresh = Buffer.from(effects.random.bytes(16)).toString('hex')
    store.transact('process', () => store.contents.begin(fresh, sessionId, sha256))
    for (let index = 0; index < pieces; index++) {
      store.transact('process', () => store.contents.append(fresh, index, piece(index)))
      await nextTurn()
    }
    // Another call of the session may have stored the same meanwhile.
    return store.transact('process', () => store.contents.finish(fresh, sessionId, sha256))
  }
}
