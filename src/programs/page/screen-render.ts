/** One drawing of what is shown, from the model alone. */
import type { InspectorRecord } from '../../protocol/system/inspector.js'
import { writeAddress } from './address.js'
import { byId, field, h, say } from './elements.js'
import type { Model } from './model.js'
import { isSequencing, showActor, showRecord } from './screen-moves.js'
import { type Showing, TYPES } from './showing.js'
import { recordPane } from './views/record-view.js'

export function render(showing: Showing, model: Model): void {
  const now = showing.commands.now()
  const fresh = showing.lit
  showing.lit = []
  renderPlace(showing, model)
  if (showing.shown === 'plugins') renderPlugins(showing, model, now)
  remember(showing, model)
  if (showing.shown !== 'actors') return
  renderActors(showing, model, now, fresh)
  byId('lanes-clear').hidden = !isSequencing() || showing.lanes.size === 0
  if (isSequencing()) showing.views.sequence.update(model, showing.selected, showing.lanes)
  else renderLog(showing, model)
  byId('workspaces').replaceChildren(...workspaces(model).map((value) => h('option', { value })))
}

function renderPlace({ fields }: Showing, model: Model): void {
  const { pause, position } = fields
  const { records } = model
  const waits = model.isPaused && !pause.hasAttribute('disabled')
  pause.setAttribute('aria-pressed', String(waits))
  pause.textContent = waits ? 'Go on' : 'Pause'
  position.max = String(records.length)
  position.value = String(model.position)
  const at = records[model.position - 1]
  byId('place').textContent = at === undefined ? `0 of ${records.length}` : `${model.position} of ${records.length}`
}

function renderPlugins(showing: Showing, model: Model, now: number): void {
  const { plugins, page } = showing.views
  showing.plugin ??= model.plugins.toSorted((a, b) => (a.key < b.key ? -1 : 1)).find(({ origin }) => origin !== 'native')?.key
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
  if (actor === undefined && selected !== undefined) say(byId('caption'), `${selected} · ended`)
  for (const record of fresh) if (record.actorId === selected && record.type === 'transition') chart.light(record)
}

function renderLog(showing: Showing, model: Model): void {
  const { logFilter, only, failures } = showing.fields
  const filter = {
    types: new Set(TYPES.filter((type) => field(`show-${type}`).checked)),
    text: logFilter.value.trim().toLowerCase(),
    actorId: only.checked ? showing.selected : undefined,
    isFailuresOnly: failures.checked,
  }
  showing.views.log.update(model, filter, showing.chosen)
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

function workspaces({ plugins }: Model): string[] {
  return [...new Set(plugins.flatMap(({ workspace }) => workspace ?? []))].toSorted()
}
