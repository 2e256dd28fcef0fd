/** Finding a session; what is not there is answered with what is. */
import type { Client } from '../../client/client-types.js'
import { SvcClientError } from '../../client/client.js'
import { SvcError } from '../../protocol/errors.js'
import type { Session } from '../../protocol/session/session.js'
import { nearest } from '../../protocol/nearest.js'
import { shortTitle } from './session-record.js'

const NAMED = 5
/** Among so many a name that is near is looked for. */
const NEAR = 100

/** Throws an error that names the latest sessions when there is none of this id. */
export async function findSession(client: Client, sessionId: string): Promise<Session> {
  try {
    return await client.sessions.get({ sessionId })
  } catch (error) {
    if (!(error instanceof SvcClientError) || error.code !== 'resource.not_found') throw error
    const { items } = await client.sessions.list({ limit: NEAR })
    const near = nearest(
      sessionId,
      items.map(({ id }) => id),
    )
    const latest = items
      .slice(0, NAMED)
      .map(({ id, title }) => `${id} (${shortTitle(title)})`)
      .join(', ')
    const there = items.length === 0 ? 'there is none yet.' : `the latest are ${latest}.`
    const hint = near === undefined ? there : `did you mean ${near}?`
    throw new SvcError('resource.not_found', `There is no session ${sessionId}; ${hint}`, {}, { cause: error })
  }
}

/** The session of a directory that was used last, children left out. */
export async function latestSession(client: Client, directory: string): Promise<Session> {
  const { items } = await client.sessions.list({ directory, roots: 'true', limit: 1 })
  if (items[0] !== undefined) return items[0]
  throw new SvcError('resource.not_found', `There is no session of ${directory} to go on with; begin one without --continue.`)
}
