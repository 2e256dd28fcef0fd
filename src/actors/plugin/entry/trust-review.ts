/** Approvals that are written through the API: nothing is approved that no broker provides here (choices 22). Pure. */
import { isDeepStrictEqual } from 'node:util'
import { intersectCapabilities, NO_BROKER_ACTION, noBroker } from '../../../machines/plugin/capability.js'
import { SvcError } from '../../../protocol/errors.js'
import type { HostCapability, TrustRecord } from '../../../protocol/plugin/plugin.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { approvalsOf } from '../../resource/config/entries.js'

/** Throws `request.unprocessable` for an approval that `before` does not have; those that were written earlier may stay. */
export function reviewApprovals(before: JsonRecord, after: JsonRecord, brokered: ReadonlySet<HostCapability>): void {
  const earlier = approvalsOf(before)
  for (const record of approvalsOf(after)) {
    const unbrokered = unbrokeredOf(record, brokered)
    if (unbrokered.length === 0 || earlier.some((other) => isDeepStrictEqual(other, record))) continue
    const { packageId, scope = 'workspace' } = record
    const message = `${packageId} cannot be approved: ${noBroker(unbrokered, scope)}; ${NO_BROKER_ACTION}`
    throw new SvcError('request.unprocessable', message, { packageId, capabilities: unbrokered })
  }
}

function unbrokeredOf(record: TrustRecord, brokered: ReadonlySet<HostCapability>): readonly HostCapability[] {
  const { capabilities: declared, scope = 'workspace', luaApproved, executableApproved } = record
  const runtime = luaApproved && !executableApproved ? 'lua' : 'process'
  return intersectCapabilities({ declared, trusted: undefined, scope, runtime, brokered }).unbrokered
}
