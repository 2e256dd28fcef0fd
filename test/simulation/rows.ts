/** Rows of plugins, as they are on disk. */
import type { WorkflowRun } from '../../src/protocol/workflow/workflow.js'
import type { Life } from './life.js'

/** A delegated task. */
export interface Task {
  readonly id: string
  readonly parentId: string
  readonly status: 'queued' | 'running' | 'reporting' | 'delivered' | 'failed' | 'stopped'
  readonly isForeground: boolean
}

export const SUBAGENTS = 'dev.svc.subagents'
export const WORKFLOWS = 'dev.svc.workflows'

export function tasksOf({ store }: Pick<Life, 'store'>): readonly Task[] {
  return store.pluginRows.list(SUBAGENTS, 'task').map(({ data }) => data as Task)
}

export function isOpen({ status }: Task): boolean {
  return status === 'queued' || status === 'running' || status === 'reporting'
}

/** It has its place among those that may overlap. */
export function isUnderWay({ status }: WorkflowRun): boolean {
  return status === 'queued' || status === 'running'
}

export function workflowRunsOf({ store }: Pick<Life, 'store'>): readonly WorkflowRun[] {
  return store.pluginRows.list(WORKFLOWS, 'run').map(({ data }) => data as WorkflowRun)
}
