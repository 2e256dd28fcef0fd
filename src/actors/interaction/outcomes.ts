/** What became of a request, for whoever asks later (choice 40). */
import { SvcError } from '../../protocol/errors.js'
import type { PermissionOutcome, PermissionRequest, QuestionOutcome, QuestionRequest } from '../../protocol/interaction/interaction.js'
import type { InteractionRow, Store } from '../../store/store.js'
import { responseOf } from './answers.js'

type Rows = Pick<Store, 'interactions'>

/** Throws `resource.not_found`. */
export function permissionOutcome(store: Rows, id: string): PermissionOutcome {
  const row = rowOf(store, id, 'permission')
  const { reply, message } = responseOf(row)
  return {
    request: row.request as PermissionRequest,
    ...endOf(row),
    ...(reply !== undefined && { reply }),
    ...(message !== undefined && { message }),
  }
}

export function questionOutcome(store: Rows, id: string): QuestionOutcome {
  const row = rowOf(store, id, 'question')
  const { answers } = responseOf(row)
  return { request: row.request as QuestionRequest, ...endOf(row), ...(answers !== undefined && { answers }) }
}

function endOf(row: InteractionRow) {
  const { by, reason } = responseOf(row)
  return {
    state: row.state,
    asked: row.created,
    ...(row.settled !== undefined && { settled: row.settled }),
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  }
}

function rowOf({ interactions }: Rows, id: string, kind: InteractionRow['kind']): InteractionRow {
  const row = interactions.get(id)
  if (row?.kind !== kind) throw new SvcError('resource.not_found', `There is no ${kind} request "${id}".`, { requestId: id })
  return row
}
