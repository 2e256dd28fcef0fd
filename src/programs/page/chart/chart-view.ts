/** The state chart of one actor: drawn once for each machine, then only lit. */
import type {
  InspectedActor,
  InspectedLayout,
  InspectedMachine,
  InspectedState,
  InspectorRecord,
} from '../../../protocol/system/inspector.js'
import { arrowKey, holds, marksOf, takenBy } from './chart-marks.js'
import { drawingOf, type Shape } from './drawing.js'
import { h, s, say } from '../elements.js'
import { isHistory } from '../marks.js'
import { allStates, type Arrow, arrowsOf, delayOf, sentence } from './graph.js'
import { duration } from './measures.js'
import { createViewport, FIT_MIN, type Viewport } from './viewport.js'

export interface ChartView {
  /** `last` is the transition that led to the state, as far as it is known. */
  show(actor: InspectedActor | undefined, machine: InspectedMachine | undefined, last: InspectorRecord | undefined, now: number): void
  /** Flashes the arrow a transition of the shown actor took. */
  light(record: InspectorRecord): void
  /** Makes the chart larger, or smaller below 1. */
  zoom(by: number): void
  move(byX: number, byY: number): void
  fit(): void
}

interface Drawn {
  readonly machine: InspectedMachine
  readonly layout: InspectedLayout
  readonly viewport: Viewport
  readonly arrows: readonly Arrow[]
  readonly boxes: readonly SVGElement[]
  /** Lines and their labels. */
  readonly lines: readonly SVGElement[]
}

const EFFECT = 'An effect has no chart: it runs until it is done or its state is left.'
const PLAYED = 'The history that was played, step by step: what was done from outside stands among what the machines did.'

/** Shows machines with one of their layouts. */
export function chartView(
  element: HTMLElement,
  caption: HTMLElement,
  details: HTMLElement,
  which: 'layout' | 'overview' = 'layout',
): ChartView {
  const drawings = new WeakMap<InspectedMachine, Drawn>()
  let shown: Drawn | undefined
  let actorId: string | undefined
  /** What is lit, so that nothing is done twice. */
  let lit = ''

  function drawingFor(machine: InspectedMachine, layout: InspectedLayout): Drawn {
    const made = drawings.get(machine) ?? draw(machine, layout, FIT_MIN[which])
    drawings.set(machine, made)
    return made
  }

  function replace(...content: readonly Node[]): void {
    shown = undefined
    element.replaceChildren(...content)
  }

  new ResizeObserver(() => shown?.viewport.resized()).observe(element)
  return {
    show(actor, machine, last, now) {
      say(caption, actor === undefined ? 'No actor is selected.' : captionOf(actor, machine, now))
      const wanted = [actor?.id, actor?.state.join(), machine?.id, last?.sequence].join(' ')
      if (wanted === lit && machine === shown?.machine) return
      lit = wanted
      if (actor === undefined || machine === undefined) {
        const note =
          actor?.machine === undefined
            ? actor !== undefined && isHistory(actor)
              ? PLAYED
              : EFFECT
            : `The chart of "${actor.machine}" is not known here.`
        replace(...(actor === undefined ? [] : [h('p', { class: 'note' }, note)]))
        details.replaceChildren()
        return
      }
      details.replaceChildren(...ways(machine, actor.state))
      const layout = machine[which] ?? machine.layout
      if (layout === undefined) {
        replace(h('ul', { class: 'list', 'data-machine': machine.id }, ...machine.root.states.map((state) => listed(state, actor.state))))
        return
      }
      const drawing = drawingFor(machine, layout)
      const isOther = drawing !== shown || actorId !== actor.id
      if (isOther) {
        replace(drawing.viewport.svg)
        for (const line of drawing.lines) line.classList.remove('fired')
      }
      shown = drawing
      actorId = actor.id
      mark(drawing, actor.state, last)
      const current = drawing.layout.boxes.find(({ path }) => path === actor.state[0])
      if (current !== undefined) drawing.viewport.follow(current)
      if (isOther) drawing.viewport.fit()
    },
    light(record) {
      if (shown === undefined) return
      const taken = takenBy(shown.arrows, record)
      for (const line of shown.lines) {
        if (!taken.has(keyOf(line))) continue
        line.classList.remove('fired')
        // Reading a measure begins the animation anew.
        void line.getBoundingClientRect()
        line.classList.add('fired')
      }
    },
    zoom: (by) => shown?.viewport.zoom(by),
    move: (byX, byY) => shown?.viewport.move(byX, byY),
    fit: () => shown?.viewport.fit(),
  }
}

function draw(machine: InspectedMachine, layout: InspectedLayout, least: number): Drawn {
  const groups = drawingOf(machine, layout).map(elementOf)
  const viewport = createViewport(layout, least, ...groups)
  viewport.svg.setAttribute('aria-label', `State chart of ${machine.id}`)
  viewport.svg.dataset['machine'] = machine.id
  const lines = groups.filter(({ dataset }) => dataset['from'] !== undefined)
  for (const type of ['pointerover', 'pointerout'] as const) {
    viewport.svg.addEventListener(type, ({ target }) => {
      const line = target instanceof Element ? target.closest<SVGElement>('[data-from]') : null
      for (const each of lines) each.classList.toggle('hovered', type === 'pointerover' && line !== null && keyOf(each) === keyOf(line))
    })
  }
  return {
    machine,
    layout,
    viewport,
    arrows: arrowsOf(machine),
    boxes: groups.filter(({ dataset }) => dataset['state'] !== undefined),
    lines,
  }
}

function mark({ machine, arrows, boxes, lines }: Drawn, state: readonly string[], last: InspectorRecord | undefined): void {
  const { active, near, reachable } = marksOf(machine, arrows, state)
  const taken = last === undefined ? new Set() : takenBy(arrows, last)
  for (const box of boxes) {
    const path = box.dataset['state'] ?? ''
    box.classList.toggle('active', active.has(path))
    box.classList.toggle('current', state.includes(path))
    box.classList.toggle('far', !reachable.has(path) && !near.has(path))
  }
  for (const line of lines) {
    line.classList.toggle('near', near.has(keyOf(line)))
    line.classList.toggle('far', !near.has(keyOf(line)))
    line.classList.toggle('last', taken.has(keyOf(line)))
  }
}

function keyOf({ dataset }: SVGElement): string {
  return arrowKey({ from: dataset['from'] ?? '', to: dataset['to'] ?? '' })
}

function elementOf({ tag, attributes, children }: Shape): SVGElement {
  return s(tag, attributes, ...children.map((child) => (typeof child === 'string' ? child : elementOf(child))))
}

/** The states of a machine that was never laid out. */
function listed({ path, key, states }: InspectedState, state: readonly string[]): HTMLElement {
  const name = h('span', { class: state.includes(path) ? 'current' : undefined, 'data-state': path }, key)
  return h('li', {}, name, states.length > 0 && h('ul', {}, ...states.map((child) => listed(child, state))))
}

function captionOf(actor: InspectedActor, machine: InspectedMachine | undefined, now: number): string {
  const parts = [actor.id, actor.state.join(', ') || actor.kind]
  if (actor.since !== undefined) parts.push(`since ${duration(Math.max(0, now - actor.since))}`)
  const delay = machine === undefined ? undefined : delayOf(machine, actor.state)
  if (delay !== undefined && actor.since !== undefined) parts.push(`leaves in ${duration(Math.max(0, delay - (now - actor.since)))}`)
  return parts.join(' · ')
}

/** What can happen now, in words. */
function ways(machine: InspectedMachine, state: readonly string[]): HTMLElement[] {
  const active = [...allStates(machine.root)].filter(({ path }) => holds(state, path))
  return active.flatMap(({ path, transitions }) => transitions.map((each) => h('li', {}, sentence(path, each, each.targets?.join(', ')))))
}
