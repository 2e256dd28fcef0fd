/** `svc workflow pause`, `retry` and `delete`, on a running server. */
import { SvcError } from '../../../protocol/errors.js'
import type { WorkflowRun } from '../../../protocol/workflow/workflow.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { DeleteOptions, RetryOptions, RunOptions } from './workflow-arguments.js'
import { words } from './runs-table.js'
import { workflowServer } from './workflow-server.js'

/** Answers 0. */
export async function pauseWorkflow(options: RunOptions): Promise<number> {
  const { client, directory } = await workflowServer(options)
  const activation = await client.plugins.workflows.pause({ workflowId: options.id, directory })
  writeOut(options.json ? `${jsonText(activation, 2)}\n` : `${options.id} is paused; svc workflow activate ${options.id} ends that\n`)
  return 0
}

const AGAIN: ReadonlySet<WorkflowRun['status']> = new Set(['failed', 'interrupted', 'replaced'])

/** Answers 0. Throws `resource.not_found` where there is nothing to run again. */
export async function retryWorkflow(options: RetryOptions): Promise<number> {
  const { client, directory } = await workflowServer(options)
  const { workflows } = client.plugins
  const at = { workflowId: options.id, directory }
  const runId = options.run ?? (await workflows.history(at)).runs.find(({ status }) => AGAIN.has(status))?.id
  if (runId === undefined) throw new SvcError('resource.not_found', `No run of ${options.id} has failed, was interrupted or replaced.`)
  const run = await workflows.runs.retry({ ...at, runId })
  const text = `${run.id} is ${words(run.status)}, again for ${runId}; see how it goes with: svc workflow runs ${options.id}\n`
  writeOut(options.json ? `${jsonText(run, 2)}\n` : text)
  return 0
}

/** Removes the file as it was read here, after a yes of the person or `--yes`; answers 0, or 1 when it was declined. */
export async function deleteWorkflow(options: DeleteOptions): Promise<number> {
  const { client, directory } = await workflowServer(options)
  const { workflows } = client.plugins
  const { sourcePath, sourceHash } = await workflows.get({ workflowId: options.id, directory })
  if (!options.yes && !(await isConfirmed(`Delete ${printable(sourcePath)} for good? [y/n] `))) {
    writeError('svc: not deleted\n')
    return 1
  }
  const expectedRevision = `sha256:${sourceHash}`
  await workflows.delete({ workflowId: options.id, directory, expectedRevision }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'management.authentication_required')) throw error
    throw new SvcError(
      'management.authentication_required',
      `a server without a token deletes no files: remove ${printable(sourcePath)} yourself`,
    )
  })
  writeOut(options.json ? `${jsonText({ id: options.id, file: sourcePath, deleted: true }, 2)}\n` : `deleted ${printable(sourcePath)}\n`)
  return 0
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!isAttended()) throw new SvcError('request.invalid', 'deleting a workflow needs --yes where nobody can be asked')
  return /^y(es)?$/i.test(await askPerson(question, new AbortController().signal))
}
