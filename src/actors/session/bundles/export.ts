/** Sessions as bundles, written piece by piece (sessions-events §2.15). What was left of a message is not kept in memory. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { BUNDLE_VERSION } from '../../../protocol/session/bundle.js'
import type { Session } from '../../../protocol/session/session.js'
import type { SessionCore } from '../core.js'

const SESSIONS = 100
const MESSAGES = 16

/** The text of the answer; a session that is deleted meanwhile ends it with an error, so that nothing half looks whole. */
export function* exportSessions(core: SessionCore, caller: Caller, workspaceRoot: string): Generator<string> {
  let lead = '{"bundles":['
  for (const session of sessionsOf(core, caller, workspaceRoot)) {
    yield lead
    yield* bundleOf(core, session, workspaceRoot)
    lead = ','
  }
  yield lead === ',' ? ']}' : `${lead}]}`
}

function* sessionsOf({ store, owners }: SessionCore, caller: Caller, workspaceRoot: string): Generator<Session> {
  let after: { readonly updated: number; readonly id: string } | undefined
  for (;;) {
    const rows = store.sessions.list({
      tenantId: caller.tenantId,
      prefixes: [workspaceRoot],
      includeArchived: true,
      limit: SESSIONS,
      after,
    })
    for (const { id } of rows) {
      const session = store.sessions.get(id)
      if (session !== undefined && rootOf(session) === workspaceRoot && owners.mayUse(caller, id)) yield session
    }
    after = rows.at(-1)
    if (rows.length < SESSIONS) return
  }
}

/** The directory of a session without its path. */
export function rootOf({ directory, path = '' }: Pick<Session, 'directory' | 'path'>): string {
  return path !== '' && directory.endsWith(`/${path}`) ? directory.slice(0, -path.length - 1) || '/' : directory
}

function* bundleOf({ store }: SessionCore, session: Session, workspaceRoot: string): Generator<string> {
  const { id: sessionId } = session
  yield `{"version":${BUNDLE_VERSION},"workspaceRoot":${JSON.stringify(workspaceRoot)},"session":${JSON.stringify(session)},"messages":[`
  let cursor: string | undefined
  let lead = ''
  do {
    const page = store.messages.page({ sessionId, order: 'asc', limit: MESSAGES, cursor })
    for (const item of page.items) {
      yield lead + item
      lead = ','
    }
    cursor = page.next
  } while (cursor !== undefined)
  if (store.sessions.parentOf(sessionId) === undefined)
    throw new SvcError('resource.not_found', `The session ${sessionId} was deleted while it was exported.`, { sessionId })
  yield '],"queuedPrompts":['
  lead = ''
  for (const { id, delivery } of store.queue.list(sessionId)) {
    const request = delivery === 'continue' ? undefined : store.queue.get(id)?.request
    if (request === undefined) continue
    yield lead + JSON.stringify({ delivery, request })
    lead = ','
  }
  yield ']}'
}

/** Some texts at a time, each in a turn of its own. */
export async function* inPieces(texts: Iterable<string>): AsyncGenerator<string> {
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
