/** Who takes part in a session, and who controls it (sessions-events §14). */
import { createLru } from '../kernel/lru.js'
import type { SessionControl, SessionParticipant } from '../protocol/session/sharing.js'
import type { Connection } from './disk/connection.js'
import { valueIn } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'

export const SHARING_SCHEMA = `
create table session_control (
  session_id text primary key references sessions (id) on delete cascade,
  json text not null
) strict;

create table session_participants (
  session_id text not null references sessions (id) on delete cascade,
  subject text not null,
  actor_type text not null,
  first_seen integer not null,
  last_seen integer not null,
  primary key (session_id, subject)
) strict, without rowid;
`

export interface SharingTable {
  /** The last lease, over or not. */
  control(sessionId: string): SessionControl | undefined
  putControl(control: SessionControl): void
  /** First come first. */
  participants(sessionId: string): SessionParticipant[]
  /** Somebody new, or somebody known who is there again. */
  note(sessionId: string, who: Pick<SessionParticipant, 'subject' | 'actorType'>, at: number): void
}

/** Sessions of which it is remembered who controls them. */
const KEPT = 4096

/**
 * Every request that changes a session asks who controls it: mostly nobody. What is remembered of a session is forgotten when that changes;
 * whoever undoes a change, or deletes a session, calls `forget`.
 */
export function createSharingTable(connection: Pick<Connection, 'query' | 'inTransaction'>): SharingTable & {
  forget(): void
} {
  const control = connection.query<[string], JsonRow>('select json from session_control where session_id = ?')
  const put = connection.query<[string, string]>(
    'insert into session_control (session_id, json) values (?, ?) on conflict (session_id) do update set json = excluded.json',
  )
  const participants = connection.query<[string], SessionParticipant>(`
    select subject, actor_type as actorType, first_seen as firstSeenAt, last_seen as lastSeenAt
    from session_participants where session_id = ? order by first_seen, subject`)
  const note = connection.query<[string, string, string, number, number]>(`
    insert into session_participants (session_id, subject, actor_type, first_seen, last_seen) values (?, ?, ?, ?, ?)
    on conflict (session_id, subject) do update set last_seen = excluded.last_seen`)
  /** As committed; null = nobody ever did. */
  const kept = createLru<string, SessionControl | null>(KEPT)

  return {
    control(sessionId) {
      const known = kept.get(sessionId)
      if (known !== undefined) return known ?? undefined
      const found = valueIn<SessionControl>(control.get(sessionId))
      if (!connection.inTransaction) kept.set(sessionId, found ?? null)
      return found
    },
    putControl(item) {
      kept.delete(item.sessionId)
      put.run(item.sessionId, JSON.stringify(item))
    },
    participants: (sessionId) => participants.all(sessionId),
    note: (sessionId, { subject, actorType }, at) => void note.run(sessionId, subject, actorType, at, at),
    forget: kept.clear,
  }
}
