/** Metadata of artifacts; their bytes are files of their own (http-contract §2.9). */
import type { Artifact } from '../protocol/system/artifact.js'
import type { Connection } from './disk/connection.js'
import type { ArtifactTable } from './store.js'
import { valueIn, valueOf } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'

export function createArtifactTable(connection: Connection): ArtifactTable {
  const insert = connection.query<[string, string, string | null, number, string]>(
    'insert into artifacts (id, tenant_id, session_id, created, json) values (?, ?, ?, ?, ?)',
  )
  const get = connection.query<[string, string], JsonRow>('select json from artifacts where id = ? and tenant_id = ?')
  const list = connection.query<[string], JsonRow>('select json from artifacts where tenant_id = ? order by created desc, id desc')
  const listOfSession = connection.query<[string, string], JsonRow>(
    'select json from artifacts where tenant_id = ? and session_id = ? order by created desc, id desc',
  )
  const usage = connection.query<[string], { count: number; bytes: number }>(
    `select count(*) as count, coalesce(sum(json ->> '$.size'), 0) as bytes from artifacts where tenant_id = ?`,
  )
  const bytes = connection.query<[], { bytes: number }>(`select coalesce(sum(json ->> '$.size'), 0) as bytes from artifacts`)
  const removeOld = connection.query<[number]>('delete from artifacts where created <= ?')
  const until = connection.query<[string, number, number], { id: string }>(
    'select id from artifacts where tenant_id = ? and created <= ? order by created, id limit ?',
  )
  const remove = connection.query<[string]>('delete from artifacts where id = ?')
  const any = connection.query<[string], { id: string }>('select id from artifacts where id = ?')
  const ids = connection.query<[], { id: string }>('select id from artifacts order by id')
  return {
    insert: (artifact, tenantId) =>
      void insert.run(artifact.id, tenantId, artifact.sessionId ?? null, artifact.created, JSON.stringify(artifact)),
    get: (id, tenantId) => valueIn<Artifact>(get.get(id, tenantId)),
    isKnown: (id) => any.get(id) !== undefined,
    list: (tenantId, sessionId) =>
      (sessionId === undefined ? list.all(tenantId) : listOfSession.all(tenantId, sessionId)).map((row) => valueOf<Artifact>(row.json)),
    usage: (tenantId) => usage.get(tenantId) ?? { count: 0, bytes: 0 },
    bytes: () => bytes.get()?.bytes ?? 0,
    removeMadeUntil: (created) => removeOld.run(created),
    madeUntil: (tenantId, created, limit) => until.all(tenantId, created, limit).map((row) => row.id),
    remove: (id) => void remove.run(id),
    ids: () => ids.all().map((row) => row.id),
  }
}
