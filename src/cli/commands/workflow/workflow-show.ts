/** `svc workflow show`: one workflow, what is wrong with it, and its last runs. */
import { nextOccurrence } from '../../../machines/workflows/schedule/occurrence.js'
import { formatLocal } from '../../../machines/workflows/schedule/zone.js'
import { inZone } from '../../../plugins/workflows/files/schedule-fields.js'
import type { Client } from '../../../published/client/client-types.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { WorkflowRun } from '../../../protocol/workflow/workflow.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { RunOptions } from './workflow-arguments.js'
import { diagnosticText, localZone } from './workflow-files.js'
import { runsTable } from './runs-table.js'
import { workflowServer } from './workflow-server.js'
import { scheduleWords } from './workflow-words.js'

const RUNS = 3

/** Answers 0. */
export async function showWorkflow(options: RunOptions): Promise<number> {
  const { client, directory } = await workflowServer(options)
  const at = { workflowId: options.id, directory }
  const [view, { runs }] = await Promise.all([client.plugins.workflows.get(at), runsOf(client, at)])
  if (options.json) {
    writeOut(`${jsonText({ ...view, runs }, 2)}\n`)
    return 0
  }
  const { definition, sourcePath, active, diagnostics = [] } = view
  const schedule = inZone(definition.schedule, localZone())
  const next = active ? nextOccurrence(schedule, Date.now()) : undefined
  const facts = [
    ['name', definition.name],
    ['file', sourcePath],
    ['state', active ? 'active' : 'inactive'],
    ['schedule', scheduleWords(schedule)],
    ['next', next === undefined ? '-' : formatLocal(schedule.timezone, next)],
    ...(definition.agent === undefined ? [] : [['agent', definition.agent]]),
  ]
  writeOut(columns(facts.map((row) => row.map(printable))))
  for (const { line, message, code } of diagnostics)
    writeError(diagnosticText({ file: sourcePath, message, ...(line !== undefined && { line }), ...(code !== undefined && { code }) }))
  writeOut(runs.length === 0 ? '\nno runs so far\n' : `\n${runsTable(runs)}`)
  writeOut(`\n${definition.prompt.trim()}\n`)
  return 0
}

/** The latest; none of one that was never active, of which a server keeps nothing. */
async function runsOf(
  client: Client,
  at: { readonly workflowId: string; readonly directory: string },
): Promise<{ readonly runs: readonly WorkflowRun[] }> {
  return client.plugins.workflows.history({ ...at, limit: RUNS }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'resource.not_found') return { runs: [] }
    throw error
  })
}
