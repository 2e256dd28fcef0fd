/** The session that somebody goes on in. */
import type { Client } from '../../../published/client/client-types.js'
import type { Session } from '../../../protocol/session/session.js'
import { directoryOn } from '../../directory.js'
import { findSession, latestSession } from './session-find.js'

export interface GoingOn {
  readonly session?: string | undefined
  readonly continues: boolean
  readonly directory?: string | undefined
  readonly server?: string | undefined
}

/** The session to go on in; undefined when a new one is wanted. Throws when there is none to go on in. */
export async function existingSession(client: Client, { session, continues, directory, server }: GoingOn): Promise<Session | undefined> {
  if (session !== undefined) return findSession(client, session)
  return continues ? latestSession(client, directoryOn(server, directory)) : undefined
}
