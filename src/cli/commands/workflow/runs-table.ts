/** Runs of a workflow in lines. Pure. */
import { formatUtc } from '../../../machines/workflows/schedule/zone.js'
import type { Refusal } from '../../../protocol/interaction/refusal.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { WorkflowRun } from '../../../protocol/workflow/workflow.js'
import { columns } from '../plugin/plugin-words.js'

const SHOWN_REFUSALS = 3

export function runsTable(runs: readonly WorkflowRun[]): string {
  return columns([['RUN', 'STATE', 'BECAUSE', 'DUE', 'TOOK', 'SESSION', ''], ...runs.map(rowOf)])
}

function rowOf({ id, status, trigger, scheduledAt, startedAt, finishedAt, sessionId, error, refused = [] }: WorkflowRun): string[] {
  const took = startedAt == null || finishedAt == null ? '-' : `${((finishedAt - startedAt) / 1000).toFixed(1)} s`
  return [id, words(status), words(trigger), formatUtc(scheduledAt), took, sessionId ?? '-', error ?? withoutText(refused)].map(printable)
}

export function words(name: string): string {
  return name.replaceAll(/[_-]/g, ' ')
}

function withoutText(refused: readonly Refusal[]): string {
  const shown = refused.slice(0, SHOWN_REFUSALS).map(({ permission, title }) => `${title} (${permission})`)
  const more = refused.length > shown.length ? [`${refused.length - shown.length} more`] : []
  return shown.length === 0 ? '' : `went on without: ${[...shown, ...more].join(', ')}`
}
