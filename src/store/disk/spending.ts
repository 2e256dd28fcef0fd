/** What the conversations of a state directory took, read beside a server that writes: nothing here changes the file. */
import { Database } from './driver.js'
import { storeFault } from './faults.js'

export interface Spent {
  /** `2026-05-04`, in the zone of this machine. */
  readonly day: string
  readonly providerId: string
  readonly modelId: string
  readonly directory: string
  /** Answers of models, one for each step of a run. */
  readonly answers: number
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** In the currency of the prices, US dollars in the catalog. */
  readonly cost: number
}

/** A fork and an import have copies of what was said once: the same moment, model and numbers. */
const SPENT = `
  with answers as (
    select min(s.directory) as directory, info ->> '$.time.created' as created, info ->> '$.providerId' as providerId, info ->> '$.modelId' as modelId,
      info ->> '$.tokens.input' as input, info ->> '$.tokens.output' as output, info ->> '$.tokens.reasoning' as reasoning,
      info ->> '$.tokens.cache.read' as cacheRead, info ->> '$.tokens.cache.write' as cacheWrite, info ->> '$.cost' as cost
    from messages join sessions s on s.id = messages.session_id
    where info ->> '$.role' = 'assistant' and info ->> '$.time.created' >= ?
    group by created, providerId, modelId, input, output, reasoning, cacheRead, cacheWrite, cost
  )
  select date(created / 1000, 'unixepoch', 'localtime') as day, providerId, modelId, directory, count(*) as answers,
    sum(input) as input, sum(output) as output, coalesce(sum(reasoning), 0) as reasoning,
    coalesce(sum(cacheRead), 0) as cacheRead, coalesce(sum(cacheWrite), 0) as cacheWrite, coalesce(sum(cost), 0) as cost
  from answers group by day, providerId, modelId, directory order by day, providerId, modelId, directory`

/** From the moment `since` (Unix ms) on, by day, model and directory. Throws `store.unavailable` when the file cannot be read. */
export function readSpending(path: string, since: number): readonly Spent[] {
  try {
    const database = new Database(path, { readonly: true, timeout: 5000 })
    try {
      return database.prepare<[number], Spent>(SPENT).all(since)
    } finally {
      database.close()
    }
  } catch (error) {
    throw storeFault(error)
  }
}
