import { readFileSync } from 'node:fs'
import type { ManagedPlace } from '../../../../src/ports/managed.js'
import { createCloner } from '../../../../src/platform/git/program/cloner.js'
import { createNodeProcesses } from '../../../../src/platform/node/process/processes.js'
import { createManagement } from '../../../../src/actors/runtime/management.js'
import { createWorkspace } from '../workspace.js'

/** Management over real files in a temporary directory. */
export function createManagedPlace(options: Parameters<typeof createWorkspace>[0] = {}) {
  const changed: string[] = []
  const workspace = createWorkspace({ ...options, onUpdated: (directory) => void changed.push(directory) })
  const steps: { readonly phase: string; readonly percent: number }[] = []
  const onCloneProgress = (step: (typeof steps)[number]) => void steps.push(step)
  const programs = {
    ...workspace.effects,
    childEnv: { PATH: process.env['PATH'] ?? '' },
    processes: createNodeProcesses(process.env['PATH'] ?? ''),
  }
  const cloner = createCloner(programs)
  const management = createManagement({
    effects: workspace.effects,
    cloner,
    watched: workspace.watched,
    onCloneProgress,
    snapshots: workspace.configs.snapshots,
    resources: workspace.resources,
  })
  const here: ManagedPlace = { scope: 'workspace', directory: workspace.work }
  const everywhere: ManagedPlace = { scope: 'installation', directory: workspace.effects.paths.config }
  return {
    ...workspace,
    management,
    programs,
    cloner,
    onCloneProgress,
    steps,
    changed,
    here,
    everywhere,
    read: (path: string) => readFileSync(workspace.at(path), 'utf8'),
  }
}

export const conflict = (currentRevision: string | null) => ({ code: 'management.revision_conflict', details: { currentRevision } })
