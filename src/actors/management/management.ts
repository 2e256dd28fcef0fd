/** The facade of what an operator manages (http-contract §5.7). */
import { SvcError } from '../../protocol/errors.js'
import type { Effects } from '../effects.js'
import type { Management, ManagedPlace } from '../facades.js'
import { placeOf } from './managed-folder.js'
import { createManagedMarkdown, type ManagedDeps } from './markdown-resources.js'
import { createWritingLane } from './writing.js'

interface ManagementDeps extends Omit<ManagedDeps, 'lane' | 'effects'> {
  readonly effects: ManagedDeps['effects'] & Pick<Effects, 'env'>
}

/** Whether management is switched on: unless `SVC_AGENT_MANAGEMENT_API` says 0. */
export function isManagementOn({ env }: Pick<Effects, 'env'>): boolean {
  return !['0', 'false', 'FALSE', 'no', 'NO'].includes(env['SVC_AGENT_MANAGEMENT_API'] ?? '')
}

export function createManagement(deps: ManagementDeps): Management {
  const { effects } = deps
  const managed = { ...deps, lane: createWritingLane() }
  return {
    place(directory, scopes): ManagedPlace {
      if (!isManagementOn(effects)) throw new SvcError('management.disabled')
      return placeOf(effects, directory, scopes)
    },
    agents: createManagedMarkdown(managed, 'agent'),
    commands: createManagedMarkdown(managed, 'command'),
  }
}
