/** Rows of plugins, as they are on disk. */
import type { WorkflowRun } from '../../src/protocol/workflow/workflow.js'
import type { Known } from './known.js'
import type { Life } from './life.js'

/** A delegated task. */
export interface Task {
  readonly id: string
  readonly parentId: string
  readonly status: 'queued' | 'running' | 'reporting' | 'delivered' | 'failed' | 'stopped'
  readonly isForeground: boolean
}

/** A goal that is pursued. */
export interface Pursuit {
  readonly since: number
  readonly ended?: string
  readonly seen?: string
  readonly sessionId: string
  readonly isTold: boolean
}

export const GOALS = 'dev.svc.goals'
export const SUBAGENTS = 'dev.svc.subagents'
export const WORKFLOWS = 'dev.svc.workflows'

export function tasksOf({ store }: Pick<Life, 'store'>): readonly Task[] {
  return store.pluginRows.list(SUBAGENTS, 'task').map(({ data }) => data as Task)
}

export function pursuitsOf({ store }: Pick<Life, 'store'>): readonly Pursuit[] {
  return store.pluginRows.list(GOALS, 'pursuit').map(({ data }) => data as Pursuit)
}

/** What a plugin that is switched off has left, it goes on with once it is on. */
export function isOff({ config }: Pick<Known, 'config'>, plugin: string): boolean {
  return config.values().some(({ off }) => off.includes(plugin))
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
