/** `svc workflow run` and `runs`: a run now, and the runs so far, on a running server. */
import { formatUtc } from '../../../machines/workflows/schedule/zone.js'
import type { Refusal } from '../../../protocol/interaction/refusal.js'
import type { WorkflowRun } from '../../../protocol/workflow/workflow.js'
import { columns } from '../plugin/plugin-words.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { RunOptions, RunsOptions } from './workflow-arguments.js'
import { workflowServer } from './workflow-server.js'
import { jsonText, writeOut } from '../../terminal/output.js'

const SHOWN_REFUSALS = 3

/** Starts a run and does not wait for it; answers 0. */
export async function runWorkflow(options: RunOptions): Promise<number> {
  const { client, directory } = await workflowServer(options)
  const run = await client.plugins.workflows.run({ workflowId: options.id, directory })
  const text = `${run.id} is ${words(run.status)}; see how it goes with: svc workflow runs ${options.id}\n`
  writeOut(options.json ? `${jsonText(run, 2)}\n` : text)
  return 0
}

/** Prints one line for each run, the newest occurrence first; answers 0. */
export async function listRuns(options: RunsOptions): Promise<number> {
  const { client, directory } = await workflowServer(options)
  const { runs } = await client.plugins.workflows.history({ workflowId: options.id, directory, limit: options.limit })
  if (options.json) writeOut(`${jsonText(runs, 2)}\n`)
  else if (runs.length === 0) writeOut('no runs so far\n')
  else writeOut(columns([['RUN', 'STATE', 'BECAUSE', 'DUE', 'TOOK', 'SESSION', ''], ...runs.map(rowOf)]))
  return 0
}

function rowOf({ id, status, trigger, scheduledAt, startedAt, finishedAt, sessionId, error, refused = [] }: WorkflowRun): string[] {
  const took = startedAt == null || finishedAt == null ? '-' : `${((finishedAt - startedAt) / 1000).toFixed(1)} s`
  return [id, words(status), words(trigger), formatUtc(scheduledAt), took, sessionId ?? '-', error ?? withoutText(refused)].map(printable)
}

function words(name: string): string {
  return name.replaceAll(/[_-]/g, ' ')
}

function withoutText(refused: readonly Refusal[]): string {
  const shown = refused.slice(0, SHOWN_REFUSALS).map(({ permission, title }) => `${title} (${permission})`)
  const more = refused.length > shown.length ? [`${refused.length - shown.length} more`] : []
  return shown.length === 0 ? '' : `went on without: ${[...shown, ...more].join(', ')}`
}
