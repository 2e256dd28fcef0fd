/** Plugins: state, trust, generations, what is wrong with them, and how long a generation may still take to leave. */
import type { InspectedPlugin } from '../../protocol/inspector.js'
import { h } from './elements.js'
import { delayOf, duration } from './graph.js'
import type { Model } from './model.js'

/** Rows of the plugins; `onActor` shows an actor in the tree. */
export function pluginRows(model: Model, now: number, onActor: (id: string) => void): HTMLElement[] {
  return model.plugins.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((plugin) => row(plugin, model, now, onActor))
}

function row(plugin: InspectedPlugin, model: Model, now: number, onActor: (id: string) => void): HTMLElement {
  const { pluginId, origin, state, verdict, serving, strikes, droppedFrames, diagnostics, reason } = plugin
  return h(
    'tr',
    { 'data-plugin': pluginId, 'data-state': state },
    h(
      'td',
      {},
      link(pluginId, `package:${plugin.key}`, onActor),
      h('small', {}, [origin, plugin.source, plugin.scope].filter(Boolean).join(' · ')),
      where(plugin),
    ),
    h('td', {}, h('span', { class: `badge state-${state}` }, state), verdict !== undefined && h('small', {}, verdict)),
    h(
      'td',
      {},
      serving === undefined ? '–' : `serves ${serving}`,
      ...plugin.generations.map((each) => generation(each, model, now, onActor)),
    ),
    h('td', {}, ...revisions(plugin)),
    h(
      'td',
      {},
      `${plugin.grantedCapabilities.length} of ${plugin.requestedCapabilities.length}`,
      h('small', {}, plugin.requestedCapabilities.join(', ')),
    ),
    h(
      'td',
      {},
      droppedFrames > 0 ? `${droppedFrames} frames dropped` : '',
      strikes > 0 && h('small', {}, `${strikes} ${strikes === 1 ? 'failure' : 'failures'}`),
    ),
    h(
      'td',
      { class: 'diagnostics' },
      ...diagnostics.map(({ code, message, action }) =>
        h('p', {}, h('b', {}, code), ` ${message}`, action !== undefined && h('small', {}, action)),
      ),
      diagnostics.length === 0 && reason !== undefined && h('p', {}, reason),
    ),
  )
}

/** A generation with the time it has left when it is on its way out. */
function generation(
  { number, actorId, state }: InspectedPlugin['generations'][number],
  model: Model,
  now: number,
  onActor: (id: string) => void,
): HTMLElement {
  const actor = model.actors.get(actorId)
  const machine = model.machines.get('generation')
  const current = actor?.state ?? state
  const limit = machine === undefined ? undefined : delayOf(machine, current)
  const left =
    limit === undefined
      ? ''
      : actor?.since === undefined
        ? ` (at most ${duration(limit)})`
        : ` (at most ${duration(Math.max(0, limit - (now - actor.since)))} left)`
  return h('small', { class: 'generation' }, link(`#${number}`, actorId, onActor), ` ${current.join(', ')}${left}`)
}

function revisions({ revision, retainedRevision }: InspectedPlugin): (HTMLElement | string)[] {
  if (revision === undefined) return ['–']
  const short = (text: string) => text.replace(/^sha256:/, '').slice(0, 12)
  return [
    short(revision),
    ...(retainedRevision === undefined
      ? []
      : [h('small', { class: 'retained', title: retainedRevision }, `serves ${short(retainedRevision)}`)]),
  ]
}

function where({ workspace }: InspectedPlugin): HTMLElement | undefined {
  return workspace === undefined ? undefined : h('small', { class: 'path' }, workspace)
}

function link(label: string, actorId: string, onActor: (id: string) => void): HTMLElement {
  const element = h('button', { type: 'button', class: 'link', title: actorId }, label)
  element.addEventListener('click', () => onActor(actorId))
  return element
}
