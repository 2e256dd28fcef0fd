/** `svc workflow run` and `runs`: a run now, and the runs so far, on a running server. */
import { runsTable, words } from './runs-table.js'
import type { NowOptions, RunsOptions } from './workflow-arguments.js'
import { workflowServer } from './workflow-server.js'
import { jsonText, writeOut } from '../../terminal/output.js'

/** Starts a run; answers 0, or how it ended where that is waited for. */
export async function runWorkflow(options: NowOptions): Promise<number> {
  const server = await workflowServer(options)
  if (options.waits) return (await import('./workflow-wait.js')).waitForRun(server, options)
  const { client, directory } = server
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
  else writeOut(runsTable(runs))
  return 0
}
