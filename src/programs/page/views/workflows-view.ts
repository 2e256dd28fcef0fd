/** Workflows of one workspace: what comes next and what ran, as the operations of the API tell it. */
import type { Connection } from '../connection.js'
import { button, h, local } from '../elements.js'
import type { WorkflowCatalog, WorkflowHistory, WorkflowPreview, WorkflowView } from '../../../protocol/workflow/workflow.js'

const PREFIX = '/v2/plugins/dev.svc.workflows'
const RUNS = 5
/** Each workflow is two more requests. */
const SHOWN = 50

export interface OnAct {
  changed(): void
  failed(error: unknown): void
}

/** Rows of the workflows of a workspace; throws an `Error` with the reason when there are none to be had. */
export async function workflowRows(connection: Connection, directory: string, on: OnAct): Promise<HTMLElement[]> {
  const query = directory === '' ? '' : `directory=${encodeURIComponent(directory)}`
  const read = async <T>(path: string): Promise<T> => JSON.parse(await connection.text(path)) as T
  const { workflows, diagnostics } = await read<WorkflowCatalog>(`${PREFIX}?${query}`)
  const rows = await Promise.all(
    workflows.slice(0, SHOWN).map(async (workflow) => {
      const one = `${PREFIX}/${encodeURIComponent(workflow.definition.id)}`
      const [preview, history] = await Promise.all([
        read<WorkflowPreview>(`${one}/preview?${query}`).catch(() => undefined),
        // What was never activated has no history to ask for.
        workflow.activationId == null ? undefined : read<WorkflowHistory>(`${one}/runs?limit=${RUNS}&${query}`).catch(() => undefined),
      ])
      const isUnaccepted = diagnostics.some(({ code, sourcePath }) => code === 'acceptance-required' && sourcePath === workflow.sourcePath)
      const accept = () => {
        const revision = encodeURIComponent(`sha256:${workflow.sourceHash}`)
        connection.post(`${one}/activate?expectedRevision=${revision}&${query}`).then(on.changed, on.failed)
      }
      return row(workflow, preview, history, isUnaccepted ? accept : undefined)
    }),
  )
  return [
    ...rows,
    ...diagnostics.map(({ sourcePath, message, code }) =>
      h('tr', {}, h('td', { colspan: 4 }, `${sourcePath}: ${message}`, code !== undefined && h('small', {}, code))),
    ),
  ]
}

function row(
  { definition, active, sourcePath }: WorkflowView,
  preview: WorkflowPreview | undefined,
  history: WorkflowHistory | undefined,
  accept: (() => void) | undefined,
): HTMLElement {
  return h(
    'tr',
    { 'data-workflow': definition.id },
    h('td', {}, definition.id, h('small', { class: 'path' }, sourcePath)),
    h(
      'td',
      {},
      h(
        'span',
        { class: `badge state-${active ? 'active' : 'disabled'}` },
        active ? 'active' : accept === undefined ? 'paused' : 'acceptance required',
      ),
      accept && button('Accept', 'Accept this content of the file', accept),
    ),
    h(
      'td',
      {},
      ...(preview?.upcoming ?? [])
        .slice(0, RUNS)
        .map(({ local, shift }) => h('p', {}, local, shift !== undefined && h('small', {}, shift))),
    ),
    h(
      'td',
      {},
      ...(history?.runs ?? []).map(({ status, trigger, scheduledAt, error }) =>
        h(
          'p',
          {},
          h('span', { class: `badge state-${status}` }, status),
          ` ${local(scheduledAt)} ${trigger}`,
          typeof error === 'string' && h('small', {}, error),
        ),
      ),
    ),
  )
}
