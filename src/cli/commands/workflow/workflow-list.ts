/** `svc workflow list`: the workflows of a workspace and what is wrong with files, as the server sees them. */
import { nextOccurrence } from '../../../machines/workflows/schedule/occurrence.js'
import { formatLocal } from '../../../machines/workflows/schedule/zone.js'
import type { WorkflowView } from '../../../protocol/workflow/workflow.js'
import { inZone } from '../../../plugins/workflows/files/schedule-fields.js'
import { columns } from '../plugin/plugin-words.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { OnServer } from './workflow-arguments.js'
import { diagnosticText, localZone } from './workflow-files.js'
import { workflowServer } from './workflow-server.js'
import { scheduleWords } from './workflow-words.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'

/** Prints one line for each workflow; answers 0. */
export async function listWorkflows(options: OnServer): Promise<number> {
  const { client, directory } = await workflowServer(options)
  const catalog = await client.plugins.workflows.list({ directory })
  for (const { sourcePath, line, message, code } of catalog.diagnostics) {
    writeError(diagnosticText({ file: sourcePath, ...(line !== undefined && { line }), message, ...(code !== undefined && { code }) }))
  }
  if (options.json) writeOut(`${jsonText(catalog, 2)}\n`)
  else if (catalog.workflows.length === 0) writeOut('no workflows; write one with: svc workflow new daily-report\n')
  else writeOut(columns([['ID', 'STATE', 'NEXT', 'SCHEDULE', 'NAME'], ...catalog.workflows.map((view) => rowOf(view, Date.now()))]))
  return 0
}

function rowOf({ definition, active }: WorkflowView, now: number): string[] {
  const schedule = inZone(definition.schedule, localZone())
  const next = active ? nextOccurrence(schedule, now) : undefined
  const when = next === undefined ? '-' : formatLocal(schedule.timezone, next)
  return [definition.id, active ? 'active' : 'inactive', when, scheduleWords(schedule), definition.name].map(printable)
}
