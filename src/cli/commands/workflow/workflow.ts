/** `svc workflow`: each action is loaded when it is asked for. */
import type { WorkflowOptions } from './workflow-arguments.js'

/** Runs one action; answers the exit code: 0 done, 1 refused or something is wrong. */
export async function workflow(options: WorkflowOptions): Promise<number> {
  switch (options.action) {
    case 'list':
      return (await import('./workflow-list.js')).listWorkflows(options)
    case 'preview':
      return (await import('./workflow-preview.js')).previewWorkflow(options)
    case 'validate':
      return (await import('./workflow-validate.js')).validateWorkflows(options)
    case 'show':
      return (await import('./workflow-show.js')).showWorkflow(options)
    case 'pause':
      return (await import('./workflow-acts.js')).pauseWorkflow(options)
    case 'retry':
      return (await import('./workflow-acts.js')).retryWorkflow(options)
    case 'delete':
      return (await import('./workflow-acts.js')).deleteWorkflow(options)
    case 'activate':
    case 'accept':
      return (await import('./workflow-accept.js')).acceptWorkflow(options)
    case 'run':
      return (await import('./workflow-run.js')).runWorkflow(options)
    case 'runs':
      return (await import('./workflow-run.js')).listRuns(options)
    case 'new':
      return (await import('./workflow-new.js')).newWorkflow(options)
  }
}
