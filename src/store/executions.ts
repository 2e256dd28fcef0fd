/** The latest execution of every root session (sessions-events §11.9). */
import type { ExecutionActivitySnapshot } from '../protocol/session/session.js'
import type { Connection } from './disk/connection.js'
import type { ExecutionTable } from './store.js'
import { valueIn, valueOf } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'

export function createExecutionTable(connection: Connection): ExecutionTable {
  /** The index of those that are not finished is written wherever `finished` is assigned, be it to what it was. */
  const change = connection.query<[string, string, 0 | 1]>('update executions set json = ? where root_session_id = ? and finished = ?')
  const put = connection.query<[string, 0 | 1, string]>(`
    insert into executions (root_session_id, finished, json) values (?, ?, ?)
    on conflict (root_session_id) do update set finished = excluded.finished, json = excluded.json`)
  const get = connection.query<[string], JsonRow>('select json from executions where root_session_id = ?')
  const all = connection.query<[], JsonRow>('select json from executions order by finished, root_session_id')
  const unfinished = connection.query<[], JsonRow>('select json from executions where finished = 0 order by root_session_id')
  return {
    put(snapshot, wasFinished) {
      const { rootSessionId, finished } = snapshot
      const json = JSON.stringify(snapshot)
      const isFinished = finished ? 1 : 0
      if (finished !== wasFinished || change.run(json, rootSessionId, isFinished) === 0) put.run(rootSessionId, isFinished, json)
    },
    get: (rootSessionId) => valueIn<ExecutionActivitySnapshot>(get.get(rootSessionId)),
    all: () => all.all().map(parse),
    unfinished: () => unfinished.all().map(parse),
  }
}

function parse(row: JsonRow): ExecutionActivitySnapshot {
  return valueOf(row.json)
}
