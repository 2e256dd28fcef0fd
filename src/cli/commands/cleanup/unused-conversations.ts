/**
 * Conversations that nobody has used for some time.
 *
 * I1 A conversation is a root or a fork, with all that agents work in for it: each use of one of these is a use of it.
 * I2 What somebody uses or has pinned stays: of a family in which something is at work nothing goes, and a fork that stays outlives what it came from.
 */
import { isDelegated, type Session } from '../../../protocol/session/session.js'
import type { Client } from '../../../published/client/client-types.js'
import { SvcClientError } from '../../../published/client/client.js'

const PAGE = 200
/** Somebody works in it again, or has deleted it. */
const TAKEN: ReadonlySet<string> = new Set(['resource.conflict', 'resource.not_found'])

interface Conversation {
  readonly session: Session
  /** Copies of it, and of what it delegated to. */
  readonly forks: readonly Conversation[]
  /** The last use, Unix ms; what is pinned is always in use. */
  readonly used: number
}

/** Those that were last used before that moment (Unix ms), a fork before what it came from. */
export async function unusedConversations(client: Client, before: number): Promise<readonly Conversation[]> {
  const sessions = await allSessions(client)
  const parents = new Set(sessions.map(({ parentId }) => parentId))
  const childrenOf = async (sessionId: string) => (parents.has(sessionId) ? (await client.sessions.children({ sessionId })).items : [])
  const unused: Conversation[] = []
  for (const session of sessions) {
    const isResting = (session.catalogActivity ?? 'idle') === 'idle'
    if (session.parentId !== undefined || !isResting) continue
    const all = withForks(await conversationOf(session, childrenOf))
    unused.push(...all.filter(({ used }) => used < before).toReversed())
  }
  return unused
}

/** Forks of these that stay, and are roots once these are gone. */
export function partedForks(gone: readonly Conversation[]): readonly Session[] {
  const ids = new Set(gone.map(({ session }) => session.id))
  return gone.flatMap(({ forks }) => forks.map(({ session }) => session)).filter(({ id }) => !ids.has(id))
}

/** Answers what is gone: what has been taken up meanwhile stays. */
export async function deleteUnused(client: Client, unused: readonly Conversation[], before: number): Promise<readonly Conversation[]> {
  const gone: Conversation[] = []
  for (const conversation of unused) if (await isDeleted(client, conversation.session.id, before)) gone.push(conversation)
  return gone
}

async function isDeleted({ sessions }: Client, sessionId: string, before: number): Promise<boolean> {
  try {
    return lastUse(await sessions.get({ sessionId })) < before && (await sessions.delete({ sessionId, keepForks: 'true' }))
  } catch (error) {
    if (error instanceof SvcClientError && TAKEN.has(error.code)) return false
    throw error
  }
}

async function allSessions({ sessions }: Client): Promise<readonly Session[]> {
  const all: Session[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await sessions.list({ archived: 'true', limit: PAGE, ...(cursor !== undefined && { cursor }) })
    all.push(...page.items)
    cursor = page.cursor.next
    if (cursor === undefined) return all
  }
}

/** I1 */
async function conversationOf(session: Session, childrenOf: (sessionId: string) => Promise<readonly Session[]>): Promise<Conversation> {
  const forks: Conversation[] = []
  let used = lastUse(session)
  for (const child of await childrenOf(session.id)) {
    const below = await conversationOf(child, childrenOf)
    if (!isDelegated(child)) {
      forks.push(below)
      continue
    }
    forks.push(...below.forks)
    used = Math.max(used, below.used)
  }
  return { session, forks, used }
}

function lastUse({ pinned, time }: Session): number {
  return pinned === true ? Number.POSITIVE_INFINITY : time.updated
}

/** The conversation itself is the first, and each before its forks. */
function withForks(conversation: Conversation): readonly Conversation[] {
  return [conversation, ...conversation.forks.flatMap(withForks)]
}
