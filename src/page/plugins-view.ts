/** Plugins: state, trust, generations, what is wrong with them, and how long a generation may still take to leave. */
import type { InspectedPlugin } from '../protocol/system/inspector.js'
import { h } from './elements.js'
import { delayOf } from './graph.js'
import { duration, size } from './measures.js'
import type { Model } from './model.js'

/** Rows of the plugins; `onActor` shows an actor in the tree. */
export function pluginRows(model: Model, now: number, onActor: (id: string) => void): HTMLElement[] {
  return model.plugins.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((plugin) => row(plugin, model, now, onActor))
}

function row(plugin: InspectedPlugin, model: Model, now: number, onActor: (id: string) => void): HTMLElement {
  const { pluginId, origin, state, verdict, serving, strikes, diagnostics, reason } = plugin
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
    h(
      'td',
      {},
      h('span', { class: `badge state-${state}` }, state),
      verdict !== undefined && h('small', {}, verdict),
      strikes > 0 && h('small', { class: 'bad' }, `${strikes} ${strikes === 1 ? 'failure' : 'failures'}`),
    ),
    h(
      'td',
      {},
      serving === undefined ? '–' : `serves ${serving}`,
      ...plugin.generations.map((each) => generation(each, model, now, onActor)),
    ),
    h('td', {}, ...revisions(plugin)),
    h('td', {}, ...capabilities(plugin)),
    h('td', { class: 'frames' }, ...frames(plugin)),
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

/** What went over the link of each process, and what was dropped of those that are gone. */
function frames({ generations, droppedFrames }: InspectedPlugin): (HTMLElement | string)[] {
  const rows = generations.flatMap((each) => {
    if (each.frames === undefined) return []
    const { framesIn, framesOut, bytesIn, bytesOut, dropped } = each.frames
    return [
      h('p', {}, `#${each.number} in ${framesIn} (${size(bytesIn)}), `, h('span', {}, `out ${framesOut} (${size(bytesOut)})`)),
      ...(dropped > 0 ? [h('small', { class: 'bad' }, `${dropped} dropped`)] : []),
    ]
  })
  if (droppedFrames > 0) rows.push(h('small', { class: 'bad' }, `${droppedFrames} of earlier generations dropped`))
  return rows.length === 0 ? ['–'] : rows
}

function capabilities({ grantedCapabilities: granted, requestedCapabilities: requested }: InspectedPlugin): (HTMLElement | string)[] {
  return requested.length === 0 ? ['–'] : [`${granted.length} of ${requested.length}`, h('small', {}, requested.join(', '))]
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
