/** Workflows of one workspace: when they run, what comes next and what ran, as the operations of the API tell it, with what can be done about it. */
import type { Connection } from '../connection.js'
import { button, h, local } from '../elements.js'
import { shownLine } from '../shown-text.js'
import type { WorkflowCatalog, WorkflowHistory, WorkflowPreview, WorkflowRun, WorkflowView } from '../../../protocol/workflow/workflow.js'
import { scheduleWords } from './schedule-words.js'

const PREFIX = '/v2/plugins/dev.svc.workflows'
const RUNS = 5
/** Each workflow is two more requests. */
const SHOWN = 50
const COLUMNS = 5

export interface OnAct {
  changed(): void
  failed(error: unknown): void
}

interface Ways {
  /** Shows the turns of a session. */
  showSession(id: string): void
}

/** What is known of one, and what its buttons do. */
interface Row {
  readonly workflow: WorkflowView
  readonly preview: WorkflowPreview | undefined
  readonly history: WorkflowHistory | undefined
  readonly isUnaccepted: boolean
  act(path: string): void
}

/** Rows of the workflows of a workspace; throws an `Error` with the reason when there are none to be had. */
export async function workflowRows(connection: Connection, directory: string, ways: Ways, on: OnAct): Promise<HTMLElement[]> {
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
      const act = (path: string) => {
        connection.post(`${one}/${path}${path.includes('?') ? '&' : '?'}${query}`).then(on.changed, on.failed)
      }
      return row({ workflow, preview, history, isUnaccepted, act }, ways)
    }),
  )
  return [
    ...rows,
    ...diagnostics.map(({ sourcePath, message, code, line }) =>
      h(
        'tr',
        {},
        h(
          'td',
          { colspan: COLUMNS },
          filePath(sourcePath, line),
          h('p', { class: 'bad' }, shownLine(message)),
          code !== undefined && h('small', {}, code),
        ),
      ),
    ),
  ]
}

function row(each: Row, ways: Ways): HTMLElement {
  const { workflow, preview, history, act } = each
  const { definition, active, sourcePath, sourceHash } = workflow
  const { when, zone } = scheduleWords(definition.schedule)
  const { runs = [] } = history ?? {}
  const upcoming = (preview?.upcoming ?? []).slice(0, RUNS)
  const next = upcoming.map(({ local: at, shift }) =>
    h('p', { class: 'moment' }, momentWords(at), shift !== undefined && h('small', {}, shift)),
  )
  return h(
    'tr',
    { 'data-workflow': definition.id, 'data-revision': sourceHash },
    h(
      'td',
      {},
      h('b', {}, shownLine(definition.id)),
      definition.name !== definition.id && h('small', {}, shownLine(definition.name)),
      filePath(sourcePath),
    ),
    h('td', {}, ...state(each)),
    h('td', {}, when, zone !== undefined && h('small', {}, zone)),
    h('td', {}, !active && next.length > 0 && h('small', {}, 'if it were active'), ...next),
    h('td', {}, ...(runs.length === 0 ? [h('small', {}, 'none yet')] : runs.map((run) => runLine(run, act, ways)))),
  )
}

function state({ workflow: { active, sourceHash }, isUnaccepted, act }: Row): HTMLElement[] {
  const activate = () => act(`activate?expectedRevision=${encodeURIComponent(`sha256:${sourceHash}`)}`)
  return [
    h(
      'span',
      { class: `badge state-${active ? 'active' : 'disabled'}` },
      active ? 'active' : isUnaccepted ? 'acceptance required' : 'inactive',
    ),
    h(
      'div',
      { class: 'acts' },
      isUnaccepted && button('Accept', 'Accept this content of the file', activate),
      !active && !isUnaccepted && button('Activate', 'Run by schedule, as the file stands here, until it changes', activate),
      active && button('Pause', 'Do not run by schedule, until the file changes', () => act('pause')),
      button('Run now', 'Run once; whether it is active stays as it is', () => act('run')),
    ),
  ]
}

/** `2026-11-22 09:00 +01:00` of a moment of RFC 3339. */
function momentWords(moment: string): string {
  return moment.replace(/^(\S{10})T(\d\d:\d\d)(?::00)?(?=[^:])/, '$1 $2 ')
}

/** Of these another run can be asked for. */
const ENDED_BADLY = ['failed', 'interrupted', 'replaced']

function runLine(
  { id, status, trigger, scheduledAt, error, sessionId, refused = [] }: WorkflowRun,
  act: Row['act'],
  ways: Ways,
): HTMLElement {
  const link = typeof sessionId === 'string' ? button('session', `The turns of ${sessionId}`, () => ways.showSession(sessionId)) : undefined
  if (link !== undefined) link.className = 'link'
  return h(
    'p',
    { 'data-run': id },
    h('span', { class: `badge state-${status}` }, status),
    ` ${local(scheduledAt)} ${trigger} `,
    link,
    ENDED_BADLY.includes(status) && ' ',
    ENDED_BADLY.includes(status) && button('Retry', 'Run it again', () => act(`runs/${encodeURIComponent(id)}/retry`)),
    typeof error === 'string' && h('small', {}, shownLine(error)),
    refused.length > 0 && h('small', { class: 'warn' }, `refused: ${refused.map(({ title }) => shownLine(title)).join(', ')}`),
  )
}

/** A page of a server may not open files: a click puts the path where it can be pasted. */
function filePath(path: string, line?: number): HTMLElement {
  const place = line === undefined ? path : `${path}:${line}`
  const link = button(shownLine(place), 'Copy this path', () => {
    void navigator.clipboard?.writeText(place).then(() => link.classList.add('copied'))
  })
  link.className = 'link path'
  return link
}
