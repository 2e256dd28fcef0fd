/**
 * Large files that a result shows or a prompt attaches are stored before it is, a piece in a turn of the loop (architecture law 2: nothing refers
 * to them until then).
 */
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { ShownFile } from '../../../store/contents.js'
import type { ToolResult } from '../../../ports/plugin.js'
import type { Rows } from './core.js'

const { keptApart, keptApartOfMany, pieceOfContent } = LIMITS.store
/** Text that JSON shows as it is. */
const PLAIN = /^[A-Za-z0-9+/=]*$/
const DATA = /^data:[\w.+/-]{1,100};base64,/

type Core = Pick<Rows, 'store' | 'effects'>

/** The result with its large files stored for the session; others stay as they are. Throws `store.unavailable` when the disk fails. */
export function keepContents(core: Core, sessionId: string, result: ToolResult): ToolResult | Promise<ToolResult> {
  const { attachments } = result
  if (attachments?.some((file) => isApart(file, keptApart)) !== true) return result
  const shown = attachments.map((file) => ({ type: 'file' as const, ...file }))
  return keepFiles(core, sessionId, shown, keptApart).then((kept) => ({ ...result, attachments: kept }))
}

/** A long prompt with its files stored for the session, likewise. Whoever has stored the prompt, or never will, releases its parts. */
export async function keepAttached(core: Core, sessionId: string, prompt: QueuedPrompt): Promise<QueuedPrompt> {
  return { ...prompt, parts: await keepFiles(core, sessionId, prompt.parts, keptApartOfMany) }
}

async function keepFiles<T extends object>(core: Core, sessionId: string, files: readonly T[], least: number): Promise<T[]> {
  const kept: T[] = []
  for (const file of files) kept.push(isApart(file, least) ? await keepFile(core, sessionId, file) : file)
  return kept
}

function isApart(file: object, least: number): file is ShownFile {
  return 'url' in file && typeof file.url === 'string' && file.url.length > least && DATA.test(file.url.slice(0, 200))
}

async function keepFile<T extends ShownFile>({ store, effects }: Core, sessionId: string, file: T): Promise<T> {
  const { url } = file
  const from = url.indexOf(',') + 1
  const pieces = Math.ceil((url.length - from) / pieceOfContent)
  const piece = (index: number) => url.slice(from + index * pieceOfContent, from + (index + 1) * pieceOfContent)
  const shown = { ...file }
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
    if (pieces === 1) {
      return store.transact('process', () => {
        store.contents.begin(fresh, sessionId, sha256)
        store.contents.append(fresh, 0, piece(0))
        return store.contents.finish(fresh, sessionId, sha256)
      })
    }
    store.transact('process', () => store.contents.begin(fresh, sessionId, sha256))
    for (let index = 0; index < pieces; index++) {
      store.transact('process', () => store.contents.append(fresh, index, piece(index)))
      await nextTurn()
    }
    // Another call of the session may have stored the same meanwhile.
    return store.transact('process', () => store.contents.finish(fresh, sessionId, sha256))
  }
}
