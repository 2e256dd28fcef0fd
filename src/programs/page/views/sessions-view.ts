/**
 * Sessions and what can be undone in them: the turns of one as a line of marks, applied, partly undone and undone ones, the place where the
 * history stands, compactions, and the files each turn has changed. A session has the name that `svc session list` gives it; of what was
 * said nothing else reaches the page: of a turn it shows when and by what.
 */
import type { Connection } from '../connection.js'
import { button, h, local, s } from '../elements.js'
import { shownLine } from '../shown-text.js'
import type { Session, SessionPage } from '../../../protocol/session/session.js'
import type { SessionUndoTree, UndoTreeNode } from '../../../protocol/session/undo.js'

const SHOWN = 50
const FILES = 12
/** Of the drawing, px: a turn is a row, its mark stands on the line. */
const ROW = 44
const X = 16
const RADIUS = 7

/** The latest sessions, each a button that shows it; throws an `Error` with the reason when there are none to be had. */
export async function sessionButtons(
  connection: Connection,
  chosen: string | undefined,
  show: (id: string) => void,
): Promise<HTMLElement[]> {
  const { items } = JSON.parse(await connection.text(`/v2/sessions?limit=${SHOWN}`)) as SessionPage
  return items.map((session) => {
    const each = button('', session.directory, () => show(session.id))
    each.className = 'plugin'
    each.dataset['session'] = session.id
    if (session.id === chosen) each.setAttribute('aria-current', 'true')
    each.append(
      h('b', { class: 'name', title: session.title }, shownLine(session.title)),
      h('span', { class: `badge state-${stateOf(session)}` }, stateOf(session)),
      h('small', { class: 'id' }, session.id),
      h(
        'small',
        {},
        `${local(session.time.updated).slice(0, 16)} · ${shownLine(session.directory)}${isUndone(session) ? ' · undone in part' : ''}`,
      ),
    )
    return each
  })
}

/** As the command line says it. */
function stateOf({ catalogActivity = 'idle' }: Session): string {
  if (catalogActivity === 'permission') return 'waiting'
  return catalogActivity === 'idle' ? 'idle' : 'running'
}

function isUndone({ revert }: Session): boolean {
  return revert !== undefined && revert !== null
}

/** Its name and id, and the way to its actor. */
export async function sessionHead(connection: Connection, id: string, showActor: (id: string) => void): Promise<HTMLElement[]> {
  const { title, directory, agent, model } = JSON.parse(await connection.text(`/v2/sessions/${encodeURIComponent(id)}`)) as Session
  const actor = button('Actor and log', 'The actor of this session, and what happened to it', () => showActor(`session:${id}`))
  actor.className = 'link'
  const about = [id, agent, model === undefined ? undefined : `${model.providerId}/${model.id}`, directory].filter(Boolean)
  return [h('h2', {}, shownLine(title)), actor, h('small', {}, about.map((each) => shownLine(each ?? '')).join(' · '))]
}

/** The undo tree of a session. */
export async function sessionTurns(connection: Connection, id: string): Promise<HTMLElement[]> {
  const tree = JSON.parse(await connection.text(`/v2/sessions/${encodeURIComponent(id)}/undo-tree`)) as SessionUndoTree
  const undone = tree.nodes.filter(({ status }) => status !== 'applied').length
  const caption = `${count(tree.nodes.length, 'turn')}${undone === 0 ? '' : `, ${undone} undone`}`
  if (tree.nodes.length === 0) return [h('p', { class: 'note' }, 'Nothing was said in this session yet.')]
  return [h('p', { id: 'turns-caption' }, caption), h('div', { id: 'turns' }, line(tree), h('ol', {}, ...tree.nodes.map(turn)))]
}

/** The line of marks beside the turns; `role` tells that the list says the same. */
function line({ nodes, cursor }: SessionUndoTree): SVGSVGElement {
  const y = (index: number) => index * ROW + ROW / 2
  const from = (index: number) => s('path', { class: nodes[index]?.status ?? '', d: `M${X} ${y(index - 1)}V${y(index)}` })
  return s(
    'svg',
    { width: 2 * X, height: nodes.length * ROW, role: 'presentation' },
    ...nodes.slice(1).map((_node, index) => from(index + 1)),
    ...nodes.flatMap((node, index) => [
      s('circle', { class: node.status, cx: X, cy: y(index), r: RADIUS }),
      node.status === 'partial' &&
        s('path', { class: 'half', d: `M${X - RADIUS} ${y(index)}A${RADIUS} ${RADIUS} 0 0 1 ${X + RADIUS} ${y(index)}Z` }),
      isCompacted(node) && s('path', { class: 'compaction', d: `M${X - 5} ${y(index) + 16}l5 -5l5 5l-5 5z` }),
      node.messageID === cursor?.messageID && s('path', { class: 'cursor', d: `M2 ${y(index) - 4}l6 4l-6 4z` }),
    ]),
  )
}

function turn(node: UndoTreeNode): HTMLElement {
  const tools = new Map<string, number>()
  for (const { tool } of node.parts) if (tool !== undefined) tools.set(tool, (tools.get(tool) ?? 0) + 1)
  const called = [...tools].map(([tool, times]) => (times === 1 ? tool : `${tool} × ${times}`)).join(', ')
  const { files, paths = [] } = node.snapshots
  const changed = `${paths.slice(0, FILES).join(', ')}${files > FILES ? ` and ${files - FILES} more` : ''}`
  const words = { applied: '', partial: 'undone in part', reverted: 'undone' }
  const state = words[node.status]
  return h(
    'li',
    { class: node.status, 'data-turn': node.messageID },
    h(
      'span',
      {},
      local(node.time),
      state !== '' && h('span', { class: 'badge' }, state),
      isCompacted(node) && h('span', { class: 'badge' }, 'compacted'),
    ),
    h(
      'small',
      { title: paths.join('\n') },
      [called === '' ? 'no tools' : called, files === 0 ? '' : `changed ${changed}`].filter(Boolean).join(' · '),
    ),
  )
}

function isCompacted({ parts }: UndoTreeNode): boolean {
  return parts.some(({ type }) => type === 'compaction')
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
