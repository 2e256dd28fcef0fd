/** One drawing of what is shown, from the model alone. */
import type { InspectorRecord } from '../../../protocol/system/inspector.js'
import { writeAddress } from '../address.js'
import { button, byId, field, h, say } from '../elements.js'
import { hasHistory } from '../marks.js'
import type { Model } from '../model.js'
import { renderPast } from '../past.js'
import { isSequencing, showActor, showRecord } from './moves.js'
import { type Showing, TYPES } from '../showing.js'
import { recordPane } from '../views/record-view.js'

export function render(showing: Showing, model: Model): void {
  const now = showing.commands.now()
  const fresh = showing.lit
  showing.lit = []
  renderPlace(showing, model)
  renderPast(showing, model, isTrace(showing))
  renderWaiting(model)
  renderWorkspaces(model)
  if (showing.shown === 'plugins') renderPlugins(showing, model, now)
  remember(showing, model)
  if (showing.shown !== 'actors') return
  renderActors(showing, model, now, fresh)
  byId('lanes-clear').hidden = !isSequencing() || showing.lanes.size === 0
  if (isSequencing()) showing.views.sequence.update(model, showing.selected, showing.lanes)
  else renderLog(showing, model)
}

function isTrace({ fields }: Showing): boolean {
  return fields.pause.hasAttribute('disabled')
}

/** How many requests wait for somebody. */
function renderWaiting({ actors }: Model): void {
  const waiting = [...actors.values()].filter(({ id, state }) => id.startsWith('interaction:') && state[0]?.startsWith('asked') === true)
  byId('waiting').hidden = waiting.length === 0
  byId('waiting').textContent = String(waiting.length)
}

function renderPlace(showing: Showing, model: Model): void {
  const { pause, position } = showing.fields
  const { records } = model
  const waits = model.isPaused && !isTrace(showing)
  pause.setAttribute('aria-pressed', String(waits))
  pause.textContent = waits ? 'Go on' : 'Pause'
  position.max = String(records.length)
  position.value = String(model.position)
  const at = records[model.position - 1]
  for (const id of ['mark-back', 'mark-forward']) byId(id).hidden = !hasHistory(model)
  byId('place').textContent = at === undefined ? `0 of ${records.length}` : `${model.position} of ${records.length}`
}

function renderPlugins(showing: Showing, model: Model, now: number): void {
  const { plugins, page } = showing.views
  const sorted = model.plugins.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  showing.plugin ??= (sorted.find(({ origin }) => origin !== 'native') ?? sorted[0])?.key
  plugins.update(model.plugins, showing.plugin)
  page.update(
    model,
    model.plugins.find(({ key }) => key === showing.plugin),
    now,
  )
}

/** `fresh`: what has happened since the last drawing. */
function renderActors(showing: Showing, model: Model, now: number, fresh: readonly InspectorRecord[]): void {
  const { tree, chart } = showing.views
  const { records, actors, machines } = model
  if (showing.selected === undefined) showing.selected = [...actors.values()].find(({ kind }) => kind === 'runtime')?.id
  const { selected } = showing
  tree.update(actors.values(), selected, showing.lanes, now)
  byId('count').textContent = `${actors.size} actors${model.dropped > 0 ? ` · ${model.dropped} records dropped` : ''}`
  const actor = selected === undefined ? undefined : actors.get(selected)
  const last = records.findLast((record, index) => index < model.position && record.actorId === selected && record.type === 'transition')
  chart.show(actor, actor?.machine === undefined ? undefined : machines.get(actor.machine), last, now)
  byId('ended').hidden = actor !== undefined || selected === undefined
  if (actor === undefined && selected !== undefined) renderEnded(showing, model, selected)
  for (const record of fresh) if (record.actorId === selected && record.type === 'transition') chart.light(record)
}

/** An actor that does not live at this moment, and the ways to what is held of it. */
function renderEnded({ commands, fields: { only }, draw }: Showing, { records, position }: Model, id: string): void {
  const note = byId('ended')
  const told = records.filter(({ actorId }) => actorId === id)
  const later = records.findIndex(({ actorId }, index) => index >= position && actorId === id)
  const stop = records.findLastIndex(({ actorId, type }, index) => index < position && actorId === id && type === 'stop')
  const says =
    stop === -1 ? (later === -1 ? 'It is not there, or has ended before somebody looked.' : 'It has not begun yet.') : 'It has ended.'
  say(byId('caption'), `${id} · ${stop === -1 && later !== -1 ? 'not begun' : 'ended'}`)
  const key = `${id} ${says} ${told.length} ${stop} ${later}`
  if (note.dataset['says'] === key) return
  note.dataset['says'] = key
  note.replaceChildren(says, ' ')
  if (stop !== -1)
    note.append(
      button('Go back to it', 'To the moment before it ended', () => commands.go(stop)),
      ' ',
    )
  else if (later !== -1)
    note.append(
      button('Go to its begin', 'To the moment it began', () => commands.go(later + 1)),
      ' ',
    )
  if (told.length > 0)
    note.append(
      button('Show only its records', 'The log of this actor', () => {
        only.checked = true
        draw()
      }),
    )
}

function renderLog(showing: Showing, model: Model): void {
  const { logFilter, only, failures } = showing.fields
  const filter = {
    types: new Set(TYPES.filter((type) => field(`show-${type}`).checked)),
    text: logFilter.value.trim().toLowerCase(),
    actorId: only.checked ? showing.selected : undefined,
    isFailuresOnly: failures.checked,
  }
  showing.views.log.update(model, filter, showing.chosen, !isTrace(showing))
  // What is read is not exchanged under the eyes: records never change, they only go.
  const now = `${showing.record} ${model.records[0]?.sequence ?? ''}`
  if (now === showing.drawnRecord) return
  showing.drawnRecord = now
  const pane = byId('record')
  pane.hidden = showing.record === undefined
  if (showing.record === undefined) return pane.replaceChildren()
  const ways = {
    showActor: (id: string) => showActor(showing, id),
    show: (sequence: number) => showRecord(showing, sequence),
    go: (index: number) => showing.commands.go(index + 1),
    close: () => showRecord(showing, undefined),
  }
  pane.replaceChildren(...recordPane(model, showing.record, ways))
}

/** The address leads here again. */
function remember(showing: Showing, model: Model): void {
  const at = model.records[model.position - 1]
  const isPast = at !== undefined && model.isPaused
  const address = writeAddress({
    tab: showing.shown,
    actor: showing.selected,
    plugin: showing.shown === 'plugins' ? showing.plugin : undefined,
    session: showing.shown === 'sessions' ? showing.session : undefined,
    at: isPast ? { sequence: at.sequence, time: at.at } : undefined,
    lanes: [...showing.lanes],
    isSequence: isSequencing(),
  })
  if (address === showing.fragment) return
  showing.fragment = address
  showing.commands.moved(showing.fragment)
}

/** What is offered where a workspace is asked for; a list that is open is not exchanged for the same. */
function renderWorkspaces({ actors, plugins }: Model): void {
  const looked = [...actors.keys()].flatMap((id) => /^workspace:(\/[^#]*)$/.exec(id)?.[1] ?? [])
  const known = [...new Set([...plugins.flatMap(({ workspace }) => workspace ?? []), ...looked])].toSorted()
  const list = byId('workspaces')
  if ([...list.children].map((option) => option.getAttribute('value')).join('\n') === known.join('\n')) return
  list.replaceChildren(...known.map((value) => h('option', { value })))
}
