/** The facade of what an operator manages (http-contract §5.7). */
import { SvcError } from '../../protocol/errors.js'
import { wishOf } from '../../protocol/system/variables.js'
import type { Effects } from '../../ports/effects.js'
import type { Management, ManagedPlace } from '../../ports/managed.js'
import type { Cloner } from '../../platform/git/program/cloner.js'
import { type CloneDeps, createClones } from '../workspace/clones.js'
import { placeOf } from '../resource/managed/managed-folder.js'
import { createManagedTimes } from '../resource/managed/managed-times.js'
import { createManagedMarkdown, type ManagedDeps } from '../resource/managed/markdown-resources.js'
import { createSkillFolders } from '../resource/managed/skill-folders.js'
import { createSkillVersions } from '../resource/managed/skill-versions.js'
import { createManagedSkills } from '../resource/managed/skills.js'
import { createWorkspaceRegistry, type WorkspaceRegistry } from '../workspace/workspace-registry.js'
import { createManagedWorkspaces } from '../workspace/workspaces.js'
import type { Watcher } from '../../ports/watched.js'
import { createWritingLane } from '../resource/managed/writing.js'

interface ManagementDeps extends Omit<ManagedDeps, 'lane' | 'times' | 'effects'> {
  readonly cloner: Cloner
  readonly watched: Watcher
  /** Absent = one of its own. */
  readonly registry?: WorkspaceRegistry
  readonly onCloneProgress: CloneDeps['onProgress']
  readonly inspect?: CloneDeps['inspect']
  readonly actors?: CloneDeps['actors']
  readonly effects: Pick<Effects, 'files' | 'env' | 'paths' | 'clock' | 'random' | 'log' | 'sha256' | 'hasher'>
}

/** Whether management is switched on: unless `SVC_AGENT_MANAGEMENT_API` says 0. */
export function isManagementOn({ env }: Pick<Effects, 'env'>): boolean {
  return wishOf(env, 'SVC_AGENT_MANAGEMENT_API') !== false
}

export function createManagement(deps: ManagementDeps): Management & {
  /** Ends writes that an earlier process left. */
  recover(): Promise<void>
  /** Cancels the clones that are under way. */
  stop(): void
} {
  const { effects } = deps
  const lane = createWritingLane()
  const managed = { ...deps, lane, times: createManagedTimes(effects) }
  const folders = createSkillFolders(effects)
  const registry = deps.registry ?? createWorkspaceRegistry(effects)
  const clones = createClones({
    effects,
    cloner: deps.cloner,
    registry,
    onProgress: deps.onCloneProgress,
    inspect: deps.inspect,
    actors: deps.actors,
  })
  const requireOn = (): void => {
    if (!isManagementOn(effects)) throw new SvcError('management.disabled')
  }
  return {
    async recover() {
      await folders.recover()
      await clones.recover()
    },
    stop: clones.stop,
    requireOn,
    place(directory, scopes): ManagedPlace {
      requireOn()
      return placeOf(effects, directory, scopes)
    },
    agents: createManagedMarkdown(managed, 'agent'),
    commands: createManagedMarkdown(managed, 'command'),
    skills: createManagedSkills({
      ...managed,
      effects,
      folders,
      watched: deps.watched,
      versions: createSkillVersions(effects),
    }),
    ...createManagedWorkspaces({ effects, lane, registry, clones }),
  }
}
