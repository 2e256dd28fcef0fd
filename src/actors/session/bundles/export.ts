/** Sessions as bundles, written piece by piece (sessions-events §2.15). What was left of a message is not kept in memory. */
import { createHash } from 'node:crypto'
import { nextTurn } from '../../../kernel/pause.js'
import { type Caller, mayUseDirectory } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { MessageInfo } from '../../../protocol/message/message.js'
import { BUNDLE_VERSION, type ExportSessionsRequest } from '../../../protocol/session/bundle.js'
import { workspaceRootOf } from '../../../protocol/session/workspace-root.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Rows, Sources } from '../state/core.js'

const SESSIONS = 100
const MESSAGES = 16

/** The text of the answer; a session or a directory that is not there is an error before the first of it, and what is deleted or cannot be read meanwhile ends it with an error, so that nothing half looks whole. */
export async function* exportSessions(core: Rows & Sources, caller: Caller, request: ExportSessionsRequest): AsyncGenerator<string> {
  let lead = '{"bundles":['
  for (const session of sessionsOf(core, caller, request)) {
    yield `${lead}{"version":${BUNDLE_VERSION},"workspaceRoot":${JSON.stringify(request.workspaceRoot)},"session":${JSON.stringify(session)}`
    if (request.artifacts === true) yield* artifactsOf(core, caller, session.id)
    yield* inPieces(conversationOf(core, session.id))
    lead = ','
  }
  if (lead !== ',') await expectDirectory(core, caller, request.workspaceRoot)
  yield lead === ',' ? ']}' : `${lead}]}`
}

/** No session worked there: that is so, or the directory is not the one that was meant. */
async function expectDirectory({ effects: { files } }: Rows, caller: Caller, directory: string): Promise<void> {
  if (!mayUseDirectory(caller, directory)) throw new SvcError('auth.directory_forbidden')
  const found = await files.stat(directory).catch(() => undefined)
  if (found?.kind === 'directory') return
  throw new SvcError('request.invalid_directory', `There is no directory ${directory}, and no session worked there.`, { directory })
}

function* sessionsOf({ store, owners }: Rows, caller: Caller, { workspaceRoot, sessionId }: ExportSessionsRequest): Generator<Session> {
  const wanted = (session: Session | undefined): session is Session =>
    session !== undefined && workspaceRootOf(session) === workspaceRoot && owners.mayUse(caller, session.id)
  if (sessionId !== undefined) {
    const session = store.sessions.get(sessionId)
    if (!wanted(session)) throw new SvcError('resource.not_found', `There is no session "${sessionId}" of ${workspaceRoot}.`, { sessionId })
    yield session
    return
  }
  let after: { readonly updated: number; readonly id: string } | undefined
  for (;;) {
    const rows = store.sessions.list({
      tenantId: caller.tenantId,
      prefixes: [workspaceRoot],
      workspaceId: caller.workspaceId,
      includeArchived: true,
      limit: SESSIONS,
      after,
    })
    for (const { id } of rows) {
      const session = store.sessions.get(id)
      if (wanted(session)) yield session
    }
    after = rows.at(-1)
    if (rows.length < SESSIONS) return
  }
}

async function* artifactsOf({ artifacts }: Sources, caller: Caller, sessionId: string): AsyncGenerator<string> {
  let lead = ''
  yield ',"artifacts":['
  for (const { id } of artifacts.list(caller, sessionId)) {
    const { artifact, bytes } = artifacts.content(caller, id)
    yield `${lead}{"info":${JSON.stringify(artifact)},"content":[`
    const hash = createHash('sha256')
    let comma = ''
    for await (const piece of ofEqualSize(bytes, LIMITS.bundles.contentBytes)) {
      hash.update(piece)
      yield `${comma}"${piece.toString('base64')}"`
      comma = ','
    }
    if (hash.digest('hex') !== artifact.sha256)
      throw new SvcError('server.internal', `The file of the artifact ${id} is damaged, so that it cannot be exported.`, { artifactId: id })
    yield ']}'
    lead = ','
  }
  yield ']'
}

async function* ofEqualSize(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    pending.push(chunk)
    length += chunk.length
    if (length < size) continue
    const all = Buffer.concat(pending)
    const whole = length - (length % size)
    for (let at = 0; at < whole; at += size) yield all.subarray(at, at + size)
    pending = [all.subarray(whole)]
    length -= whole
  }
  if (length > 0) yield Buffer.concat(pending)
}

function* conversationOf({ store }: Rows, sessionId: string): Generator<string> {
  yield ',"messages":['
  let cursor: string | undefined
  let lead = ''
  const questions = new Set<string>()
  do {
    const page = store.messages.page({ sessionId, order: 'asc', limit: MESSAGES, cursor })
    for (const item of page.items) {
      yield lead + marked(item, questions)
      lead = ','
    }
    cursor = page.next
  } while (cursor !== undefined)
  if (store.sessions.parentOf(sessionId) === undefined)
    throw new SvcError('resource.not_found', `The session ${sessionId} was deleted while it was exported.`, { sessionId })
  yield '],"queuedPrompts":['
  lead = ''
  for (const { id, delivery, held } of store.queue.list(sessionId)) {
    const request = delivery === 'continue' ? undefined : store.queue.get(id)?.request
    if (request === undefined) continue
    yield lead + JSON.stringify({ delivery, request, ...(held && { held }) })
    lead = ','
  }
  yield ']}'
}

/** An answer whose question was deleted says so, because without that it would be taken for damaged. */
function marked(item: string, questions: Set<string>): string {
  const { info } = JSON.parse(item) as { readonly info: MessageInfo }
  if (info.role === 'user') questions.add(info.id)
  return info.role === 'user' || questions.has(info.parentId) ? item : `{"questionDeleted":true,${item.slice(1)}`
}

/** Some texts at a time, each in a turn of its own. */
async function* inPieces(texts: Iterable<string>): AsyncGenerator<string> {
  let piece: string[] = []
  let length = 0
  for (const text of texts) {
    piece.push(text)
    length += text.length
    if (length < LIMITS.bundles.pieceBytes) continue
    yield piece.join('')
    piece = []
    length = 0
    await nextTurn()
  }
  yield piece.join('')
}
