/** Operations of built-in plugins, as a test calls them. */
import type { Runtime } from '../../ports/facades.js'
import { TRUSTED_CALLER } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import type { WorkflowCatalog, WorkflowHistory, WorkflowProjection, WorkflowRun } from '../../protocol/workflow/workflow.js'
import type { OperationArguments, TestRuntime, TestWorkflows } from './runtime-types.js'

/** Of the workspace `directory`, as the local user. */
export function callerOf({ plugins }: Pick<Runtime, 'plugins'>, directory: string): TestRuntime['call'] {
  return (operationId, { params = {}, query = {}, body }: OperationArguments = {}) => {
    const { signal } = new AbortController()
    return plugins.call(operationId, { caller: TRUSTED_CALLER, directory, params, query, headers: {}, body, signal })
  }
}

export function workflowsOf(call: TestRuntime['call']): TestWorkflows {
  const named = (operation: string, id?: string, query: OperationArguments['query'] = {}) =>
    call(`v2.plugins.workflows.${operation}`, { params: id === undefined ? {} : { workflow_id: id }, query })
  return {
    list: async () => (await named('list')) as WorkflowCatalog,
    runs: async (id) => ((await named('history', id, { limit: LIMITS.workflows.historyMax })) as WorkflowHistory).runs,
    run: async (id) => (await named('run', id)) as WorkflowRun,
    activate: async (id) => (await named('activate', id)) as WorkflowProjection,
    pause: async (id) => (await named('pause', id)) as WorkflowProjection,
  }
}
