/** A call of the operations, as the contracts have parsed it. */
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { expectedOf } from '../../protocol/resource/expected.js'
import type { Effects } from '../../ports/effects.js'
import type { OperationCall } from '../../ports/doors.js'
import { type Context, installationContext, workspaceContext } from './files/places.js'

export interface Given {
  readonly context: Context
  readonly id: string
  readonly runId: string
  readonly limit: number
  readonly expected: string | undefined
  readonly body: unknown
}

export function readCall(effects: Pick<Effects, 'paths'>, { caller, directory, params, query, headers, body }: OperationCall): Given {
  if (caller.directoryPrefixes !== undefined && caller.hasWhole !== true)
    throw new SvcError('request.forbidden', 'Scheduled workflows are for local callers only.')
  const texts: Readonly<Record<string, unknown>> = { ...record(params), ...record(query), ...record(headers) }
  const text = (name: string) => (typeof texts[name] === 'string' ? texts[name] : undefined)
  const limit = texts['limit']
  return {
    context: text('scope') === 'installation' ? installationContext(effects) : workspaceContext(directory),
    id: text('workflow_id') ?? '',
    runId: text('run_id') ?? '',
    limit: typeof limit === 'number' ? limit : LIMITS.workflows.historyDefault,
    expected: expectedOf(undefined, text('expectedRevision'), text('if-match')),
    body,
  }
}

function record(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
