/** Finding a session; what is not there is answered with what is. */
import type { Client } from '../../../published/client/client-types.js'
import { SvcClientError } from '../../../published/client/client.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Session } from '../../../protocol/session/session.js'
import { nearest } from '../../../protocol/text/nearest.js'
import { shortTitle } from './session-record.js'

const NAMED = 5
/** Among so many the beginning of a name, and a name that is near, is looked for. */
const NEAR = 200
/** Characters: fewer name nobody. The id of every session begins with four. */
const SHORTEST = 5

/** The session of that id or slug, or the only one whose id or slug begins so. Throws an error that names others when there is none, or more than one. */
export async function findSession(client: Client, named: string): Promise<Session> {
  try {
    return await client.sessions.get({ sessionId: named })
  } catch (error) {
    if (!(error instanceof SvcClientError) || error.code !== 'resource.not_found') throw error
    const { items } = await client.sessions.list({ limit: NEAR })
    return only(named, items) ?? notFound(named, items, error)
  }
}

/** Of the latest ones. Throws where more than one is meant. */
function only(named: string, items: readonly Session[]): Session | undefined {
  const exact = items.find(({ slug }) => slug === named)
  if (exact !== undefined) return exact
  const meant = named.length < SHORTEST ? [] : items.filter(({ id, slug }) => id.startsWith(named) || slug.startsWith(named))
  if (meant.length < 2) return meant[0]
  throw new SvcError('resource.conflict', `${named} may be one of ${meant.length} sessions: ${listed(meant)}.`)
}

function notFound(named: string, items: readonly Session[], cause: Error): never {
  const near = nearest(
    named,
    items.flatMap(({ id, slug }) => [id, slug]),
  )
  const there = items.length === 0 ? 'there is none yet.' : `the latest are ${listed(items)}.`
  const hint = near === undefined ? there : `did you mean ${near}?`
  throw new SvcError('resource.not_found', `There is no session ${named}; ${hint}`, {}, { cause })
}

function listed(items: readonly Session[]): string {
  return items
    .slice(0, NAMED)
    .map(({ id, title }) => `${id} (${shortTitle(title)})`)
    .join(', ')
}

/** The session of a directory that was used last, children left out. */
export async function latestSession(client: Client, directory: string): Promise<Session> {
  const { items } = await client.sessions.list({ directory, roots: 'true', limit: 1 })
  if (items[0] !== undefined) return items[0]
  throw new SvcError('resource.not_found', `There is no session of ${directory} to go on with; begin one without --continue.`)
}
