/** `svc workflow preview`: the next occurrences of a file, without a server. */
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { createNodeFiles } from '../../../platform/node/files/node-files.js'
import { nodePaths } from '../../../platform/node/paths.js'
import { upcoming } from '../../../machines/workflows/schedule/occurrence.js'
import { formatLocal, formatUtc } from '../../../machines/workflows/schedule/zone.js'
import type { WorkflowDefinition, WorkflowSchedule, WorkflowUpcoming } from '../../../protocol/workflow/workflow.js'
import { rootsOf, workspaceContext } from '../../../plugins/workflows/files/places.js'
import { inZone } from '../../../plugins/workflows/files/schedule-fields.js'
import { columns } from '../plugin/plugin-words.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { PreviewOptions } from './workflow-arguments.js'
import { checkFile, diagnosticText, filesAt, FOLDERS, localZone } from './workflow-files.js'
import { workflowPlaces } from '../../../server/workflow-places.js'
import { scheduleWords } from './workflow-words.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'

/** Prints a table, or JSON; answers 1 when something is wrong with the file. */
export async function previewWorkflow({ file, directory, count, from, json }: PreviewOptions): Promise<number> {
  const checked = checkFile(await fileOf(file, directory), nodePaths(process.env).home)
  for (const diagnostic of checked.diagnostics) writeError(diagnosticText(diagnostic))
  const { definition } = checked
  if (definition === undefined) return 1
  const start = from ?? Date.now()
  const schedule = inZone(definition.schedule, localZone())
  const next = upcoming(schedule, start, count)
  if (json) {
    const result = { file: checked.file, definition: { ...definition, schedule }, from: formatUtc(start), upcoming: next }
    writeOut(`${jsonText(result, 2)}\n`)
  } else {
    writeOut(previewText(definition, schedule, start, next))
  }
  return 0
}

/** The file that is named by its path, or by its id wherever a server would find it; one that is broken has no id but the name of the file. */
async function fileOf(name: string, directory: string | undefined): Promise<string> {
  const workspace = resolve(directory ?? '.')
  if (existsSync(name)) return name
  const { home } = nodePaths(process.env)
  const files = await filesOf(workspace)
  const place =
    files.findLast((file) => checkFile(file, home).definition?.id === name) ?? files.findLast((file) => basename(file) === `${name}.md`)
  if (place !== undefined) return place
  const hint = 'svc workflow validate lists those of the workspace, svc workflow new writes one'
  throw new SvcError('resource.not_found', `there is no workflow file ${name}, and no workflow of that id in ${workspace}; ${hint}`)
}

/** Every workflow file that counts in a workspace, lowest precedence first. */
async function filesOf(workspace: string): Promise<readonly string[]> {
  const effects = { files: createNodeFiles(), paths: nodePaths(process.env) }
  const context = workspaceContext(await effects.files.realPath(workspace).catch(() => workspace))
  const roots = await rootsOf(effects, context, workflowPlaces(process.env))
  return roots.flatMap(({ path }) =>
    FOLDERS.map((folder) => join(path, folder)).flatMap((folder) => (existsSync(folder) ? filesAt(folder) : [])),
  )
}

function previewText(definition: WorkflowDefinition, schedule: WorkflowSchedule, from: number, next: readonly WorkflowUpcoming[]): string {
  const title = `${printable(definition.name)} (${definition.id}): ${scheduleWords(schedule)}\n`
  const activity = definition.active ? '' : 'It is not active: change "active" to true to run it by schedule.\n'
  if (next.length === 0) return `${title}${activity}Nothing is due after ${formatUtc(from)}.\n`
  const offsets = [offsetOf(formatLocal(schedule.timezone, from)), ...next.map(({ local }) => offsetOf(local))]
  const rows = next.map((each, index) => [
    String(index + 1),
    each.utc,
    each.local,
    note(each, offsets[index] ?? '', offsets[index + 1] ?? ''),
  ])
  return `${title}${activity}\n${columns([['', 'UTC', `LOCAL (${schedule.timezone})`, ''], ...rows])}`
}

/** What the clock does between two occurrences, or at one. */
function note({ shift }: WorkflowUpcoming, before: string, after: string): string {
  const changed = before === after ? [] : [`UTC offset ${before} -> ${after}`]
  const moved =
    shift === 'gap' ? ['moved: the clock skips this time'] : shift === 'fold' ? ['first of two: the clock repeats this time'] : []
  return [...moved, ...changed].join('; ')
}

function offsetOf(local: string): string {
  return local.slice(-6)
}
