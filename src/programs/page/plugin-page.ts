/** One plugin in one view: its chart, its generations side by side, why it is where it is, what moves it on, what it offers, holds, uses and was called for, and its log. */
import type { InspectedLines, InspectedPlugin } from '../../protocol/system/inspector.js'
import { chartView } from './chart/chart-view.js'
import { byId, clock, h } from './elements.js'
import { delayOf } from './chart/graph.js'
import { duration, size } from './chart/measures.js'
import type { Model } from './model.js'
import { commandsOf, type Move, movesOf } from './plugin-moves.js'
import { settle, since } from './settle.js'
import { grants, isWithoutEffect, lastCalls, offers, quotas } from './views/plugin-facts.js'

export interface PluginPage {
  update(model: Model, plugin: InspectedPlugin | undefined, now: number): void
}

export interface PluginCommands {
  /** Absent where there is no server that could do it. */
  act: ((plugin: InspectedPlugin, act: NonNullable<Move['act']>) => void) | undefined
  showActor(id: string): void
}

type Child = HTMLElement | string

export function pluginPage(commands: () => PluginCommands): PluginPage {
  const chart = chartView(byId('plugin-chart'), byId('plugin-caption'), h('ul'), 'overview')

  return {
    update(model, plugin, now) {
      byId('plugin-page').hidden = plugin === undefined
      byId('plugin-none').hidden = plugin !== undefined
      if (plugin === undefined) return
      const actorId = `package:${plugin.key}`
      const actor = model.actors.get(actorId)
      const last = model.records.findLast(
        (record, index) => index < model.position && record.actorId === actorId && record.type === 'transition',
      )
      chart.show(actor, actor?.machine === undefined ? undefined : model.machines.get(actor.machine), last, now)
      settle(byId('plugin-head'), now, head(plugin, commands()))
      settle(byId('plugin-why'), now, why(plugin))
      settle(byId('plugin-moves'), now, possible(plugin, commands().act))
      settle(byId('plugin-generations'), now, generations(plugin, model, commands().showActor))
      settle(byId('plugin-commands'), now, commandRows(plugin))
      settle(byId('plugin-offers'), now, offers(plugin))
      settle(byId('plugin-leases'), now, grants(plugin))
      settle(byId('plugin-quotas'), now, quotas(plugin))
      settle(byId('plugin-calls'), now, lastCalls(plugin, commands().showActor))
      settle(byId('plugin-log'), now, logLines(plugin, model.lines.get(plugin.key)))
    },
  }
}

function head(
  { key, pluginId, state, origin, source, scope, scopeId, workspace }: InspectedPlugin,
  { showActor }: PluginCommands,
): Child[] {
  return [
    h('h2', { title: key }, pluginId),
    h('span', { class: `badge state-${state}` }, state),
    h('small', { title: workspace }, [origin, source, scope, scopeId, workspace].filter(Boolean).join(' · ')),
    link('Actor and log', `package:${key}`, showActor),
  ]
}

/** Verdict, diagnostics, content and trust. */
function why(plugin: InspectedPlugin): Child[] {
  const { verdict, revision, retainedRevision, reason, diagnostics, strikes, origin } = plugin
  const rows: [string, Child[]][] = []
  if (verdict !== undefined) rows.push(['verdict', [verdict]])
  for (const { code, message, action } of diagnostics.filter((each) => !isWithoutEffect(each)))
    rows.push([code, [h('span', { title: message }, shortened(message)), ...(action === undefined ? [] : [h('small', {}, action)])]])
  if (diagnostics.length === 0 && reason !== undefined) rows.push(['reason', [reason]])
  if (strikes > 0) rows.push(['failures', [`${strikes} within a minute`]])
  if (revision !== undefined && revision !== '')
    rows.push(['content', [hash(revision), ...(retainedRevision === undefined ? [] : [' found, ', hash(retainedRevision), ' serves'])]])
  if (origin === 'package') rows.push(['trust', [trustOf(plugin)]])
  return rows.flatMap(([name, content]) => [h('dt', {}, name), h('dd', {}, ...content)])
}

function trustOf({ verdict, retainedRevision, runtime, native }: InspectedPlugin): string {
  if (native?.approved === true) return `this content is approved, as native code inside of the server: it may do ${native.words}`
  const kind = runtime === 'lua' ? 'Lua in a sandbox' : 'a program'
  if (verdict === 'trusted' || verdict === 'ungranted') return `this content is approved, as ${kind}`
  return retainedRevision === undefined
    ? `this content is not approved; it would run as ${kind}`
    : 'only the content that serves is approved'
}

/** Without what only a server could do, where there is none. */
function possible(plugin: InspectedPlugin, run: PluginCommands['act']): HTMLElement[] {
  const moves = movesOf(plugin).filter(({ act, command }) => run !== undefined || act === undefined || command !== undefined)
  return moves.map((move) => moveRow(plugin, move, run))
}

function moveRow(plugin: InspectedPlugin, { act, label, does, command }: Move, run: PluginCommands['act']): HTMLElement {
  const button = act === undefined || run === undefined ? undefined : h('button', { type: 'button', 'data-act': act }, label)
  if (act !== undefined) button?.addEventListener('click', () => run?.(plugin, act))
  const note = button === undefined ? h('b', {}, label) : undefined
  return h('li', {}, button ?? note, h('span', {}, does, command !== undefined && h('code', {}, command)))
}

function commandRows(plugin: InspectedPlugin): HTMLElement[] {
  return commandsOf(plugin).map(({ label, does, command }) => h('li', {}, h('b', {}, label), h('span', {}, does, h('code', {}, command))))
}

function generations(plugin: InspectedPlugin, model: Model, showActor: (id: string) => void): Child[] {
  const cards = plugin.generations.toSorted((a, b) => a.number - b.number).map((each) => generation(each, plugin, model, showActor))
  if (plugin.droppedFrames > 0) cards.push(h('p', { class: 'bad' }, `${plugin.droppedFrames} frames of earlier generations dropped`))
  return cards.length === 0 ? [h('p', { class: 'soft' }, 'Nothing of it runs.')] : cards
}

/** A generation, with the time it has left when it is on its way out. */
function generation(
  { number, actorId, state, revision, readyAt, leases, frames }: InspectedPlugin['generations'][number],
  { serving, candidate }: InspectedPlugin,
  model: Model,
  showActor: (id: string) => void,
): HTMLElement {
  const actor = model.actors.get(actorId)
  const machine = model.machines.get('generation')
  const current = actor?.state ?? state
  const limit = machine === undefined ? undefined : delayOf(machine, current)
  const role = number === serving ? 'serves' : number === candidate ? 'candidate' : current.join(', ')
  const at = actor?.since ?? readyAt
  const rows: [string, Child[]][] = [['state', [current.join(', '), ...(at === undefined ? [] : [h('small', {}, 'since ', since(at))])]]]
  if (limit !== undefined && actor?.since !== undefined) rows.push(['leaves', [h('span', {}, 'in at most ', since(actor.since + limit))]])
  else if (limit !== undefined) rows.push(['leaves', [`in at most ${duration(limit)}`]])
  if (revision !== undefined && revision !== '') rows.push(['content', [hash(revision)]])
  if (leases !== undefined) rows.push(['calls inside', [String(leases)]])
  if (frames !== undefined) {
    rows.push(['streams', [String(frames.streams)]])
    rows.push(['in', [`${frames.framesIn} (${size(frames.bytesIn)})`]])
    rows.push(['out', [`${frames.framesOut} (${size(frames.bytesOut)})`]])
    rows.push(['dropped', [h('span', { class: frames.dropped > 0 ? 'bad' : undefined }, String(frames.dropped))]])
  }
  return h(
    'article',
    { class: number === serving ? 'serves' : undefined, 'data-generation': number },
    h('h3', {}, link(`#${number}`, actorId, showActor), ` ${role}`),
    h('dl', {}, ...rows.flatMap(([name, content]) => [h('dt', {}, name), h('dd', {}, ...content)])),
  )
}

function logLines({ origin }: InspectedPlugin, known: InspectedLines | undefined): Child[] {
  if (origin === 'native' || origin === 'hook-command') return [h('p', { class: 'soft' }, 'It has no log of its own.')]
  if (known === undefined) return [h('p', { class: 'soft' }, 'A trace holds no lines of plugins.')]
  if (known.lines.length === 0) return [h('p', { class: 'soft' }, 'It wrote nothing.')]
  return known.lines.map(({ at, generation: number, text }) =>
    h('p', {}, h('span', { class: 'time' }, clock(at)), h('span', { class: 'soft' }, `#${number}`), h('span', {}, text)),
  )
}

/** Hashes in a sentence say no more than their beginning does. */
function shortened(text: string): string {
  return text.replace(/sha256:([0-9a-f]{12})[0-9a-f]{52}/g, 'sha256:$1…')
}

/** The first characters of a revision; all of it beside. */
function hash(revision: string): HTMLElement {
  return h('code', { title: revision }, revision.replace(/^sha256:/, '').slice(0, 12))
}

function link(label: string, actorId: string, showActor: (id: string) => void): HTMLElement {
  const element = h('button', { type: 'button', class: 'link', title: actorId, 'data-act': `actor ${actorId}` }, label)
  element.addEventListener('click', () => showActor(actorId))
  return element
}
