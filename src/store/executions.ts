/** The latest execution of every root session (sessions-events §11.9). */
import type { ExecutionActivitySnapshot } from '../protocol/session/session.js'
import type { Connection } from './disk/connection.js'
import type { ExecutionTable } from './store.js'
import { valueIn, valueOf } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'

export function createExecutionTable(connection: Connection): ExecutionTable {
  const put = connection.query<[string, 0 | 1, string]>(`
    insert into executions (root_session_id, finished, json) values (?, ?, ?)
    on conflict (root_session_id) do update set finished = excluded.finished, json = excluded.json`)
  const get = connection.query<[string], JsonRow>('select json from executions where root_session_id = ?')
  const all = connection.query<[], JsonRow>('select json from executions order by finished, root_session_id')
  const unfinished = connection.query<[], JsonRow>(
    `select json from at_work cross join executions on root_session_id = id where kind = 'execution' order by id`,
  )
  return {
    put: (snapshot) => void put.run(snapshot.rootSessionId, snapshot.finished ? 1 : 0, JSON.stringify(snapshot)),
    get: (rootSessionId) => valueIn<ExecutionActivitySnapshot>(get.get(rootSessionId)),
    all: () => all.all().map(parse),
    unfinished: () => unfinished.all().map(parse),
  }
}

function parse(row: JsonRow): ExecutionActivitySnapshot {
  return valueOf(row.json)
}
