/** The state chart of one actor: drawn once for each machine, then only lit. */
import type { InspectedActor, InspectedMachine, InspectorRecord } from '../../protocol/inspector.js'
import { h, s } from './elements.js'
import { allStates, delayOf, duration, sentence } from './graph.js'
import { type Box, type ChartLayout, layoutChart, type Line } from './layout.js'

export interface ChartView {
  show(actor: InspectedActor | undefined, machine: InspectedMachine | undefined, now: number): void
  /** Lights the arrow a transition of the shown actor took. */
  light(record: InspectorRecord): void
  /** Makes the chart larger, or smaller below 1. */
  zoom(by: number): void
}

interface Drawn {
  readonly machine: InspectedMachine
  readonly svg: SVGSVGElement
  readonly layout: ChartLayout
  readonly boxes: ReadonlyMap<string, SVGGElement>
  readonly lines: readonly (readonly [Line, SVGGElement])[]
}

const EFFECT = 'An effect has no chart: it runs until it is done or its state is left.'
const EDGE = 16
const LEAST_SCALE = 0.8
const ZOOM_MAX = 4

export function chartView(element: HTMLElement, caption: HTMLElement, details: HTMLElement): ChartView {
  const drawings = new Map<string, Drawn>()
  let shown: Drawn | undefined
  let actorId: string | undefined
  let litState = ''
  /** Of the size that fits, or that can be read. */
  let zoom = 1

  function drawingOf(machine: InspectedMachine): Drawn {
    const known = drawings.get(machine.id)
    if (known?.machine === machine) return known
    const made = draw(machine)
    drawings.set(machine.id, made)
    return made
  }

  function fit({ svg, layout }: Drawn): void {
    const [width, height] = [layout.width + 2 * EDGE, layout.height + 2 * EDGE]
    const whole = Math.min(1.1, (element.clientWidth - 4) / width, (element.clientHeight - 4) / height)
    const scale = zoom * Math.max(LEAST_SCALE, whole)
    svg.setAttribute('width', String(Math.ceil(width * scale)))
    svg.setAttribute('height', String(Math.ceil(height * scale)))
  }

  function mark({ boxes, layout, svg }: Drawn, state: readonly string[]): void {
    const active = new Set(state.flatMap((path) => path.split('.').map((_key, index, keys) => keys.slice(0, index + 1).join('.'))))
    for (const [path, group] of boxes) {
      group.classList.toggle('active', active.has(path))
      group.classList.toggle('current', state.includes(path))
    }
    const current = layout.boxes.find(({ path }) => path === state[0])
    if (current === undefined) return
    const scale = Number(svg.getAttribute('width')) / (layout.width + 2 * EDGE)
    const [x, y] = [(current.x + current.width / 2 + EDGE) * scale, (current.y + current.height / 2 + EDGE) * scale]
    const isInSight =
      x > element.scrollLeft + 40 &&
      x < element.scrollLeft + element.clientWidth - 40 &&
      y > element.scrollTop + 20 &&
      y < element.scrollTop + element.clientHeight - 20
    if (!isInSight) element.scrollTo(x - element.clientWidth / 2, y - element.clientHeight / 2)
  }

  new ResizeObserver(() => shown !== undefined && fit(shown)).observe(element)
  return {
    show(actor, machine, now) {
      caption.textContent = actor === undefined ? 'No actor is selected.' : captionOf(actor, machine, now)
      if (actor === undefined || machine === undefined) {
        shown = undefined
        actorId = actor?.id
        litState = ''
        element.replaceChildren(
          actor === undefined
            ? ''
            : h('p', { class: 'note' }, actor.machine === undefined ? EFFECT : `The chart of "${actor.machine}" is not known here.`),
        )
        details.replaceChildren()
        return
      }
      const drawing = drawingOf(machine)
      if (drawing !== shown || actorId !== actor.id) {
        shown = drawing
        litState = ''
        element.replaceChildren(drawing.svg)
        for (const [, group] of drawing.lines) group.classList.remove('fired')
        fit(drawing)
      }
      actorId = actor.id
      const state = actor.state.join(',')
      if (state === litState) return
      litState = state
      mark(drawing, actor.state)
      details.replaceChildren(...ways(machine, actor.state))
    },
    zoom(by) {
      zoom = Math.min(ZOOM_MAX, Math.max(1 / ZOOM_MAX, zoom * by))
      if (shown === undefined) return
      fit(shown)
      mark(shown, litState.split(','))
    },
    light({ before = [], after = [] }) {
      if (shown === undefined) return
      for (const [line, group] of shown.lines) {
        const isTaken = line.ways.some(({ source, target }) => holds(before, source) && holds(after, target) && !holds(before, target))
        if (!isTaken) continue
        group.classList.remove('fired')
        // Reading a measure begins the animation anew.
        void group.getBoundingClientRect()
        group.classList.add('fired')
      }
    },
  }
}

/** Whether a state is among these or holds one of them; '' is the machine. */
function holds(state: readonly string[], path: string): boolean {
  return path === '' || state.some((each) => each === path || each.startsWith(`${path}.`))
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

function draw(machine: InspectedMachine): Drawn {
  const layout = layoutChart(machine)
  const boxes = new Map<string, SVGGElement>()
  const lines = layout.lines.map((line) => [line, lineOf(line)] as const)
  const initials = initialPaths(machine)
  const drawn = layout.boxes.map((box) => {
    const group = boxOf(box, initials.has(box.path))
    boxes.set(box.path, group)
    return group
  })
  const [width, height] = [layout.width + 2 * EDGE, layout.height + 2 * EDGE]
  const svg = s(
    'svg',
    {
      viewBox: `${-EDGE} ${-EDGE} ${width} ${height}`,
      role: 'img',
      'aria-label': `State chart of ${machine.id}`,
      'data-machine': machine.id,
    },
    s(
      'defs',
      {},
      s(
        'marker',
        { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' },
        s('path', { d: 'M0 0L8 4L0 8z' }),
      ),
    ),
    ...drawn,
    ...lines.map(([, group]) => group),
  )
  return { machine, svg, layout, boxes, lines }
}

function initialPaths(machine: InspectedMachine): Set<string> {
  return new Set(
    [...allStates(machine.root)].flatMap(({ path, initial }) =>
      initial === undefined ? [] : [path === '' ? initial : `${path}.${initial}`],
    ),
  )
}

function boxOf({ state, path, x, y, width, height, isAny }: Box, isInitial: boolean): SVGGElement {
  const holdsStates = !isAny && state.states.length > 0
  return s(
    'g',
    { class: `box ${isAny ? 'any' : state.type}`, transform: `translate(${x} ${y})`, 'data-state': path },
    s('rect', { width, height, rx: 7 }),
    state.type === 'final' && !isAny && s('rect', { class: 'ring', x: 3, y: 3, width: width - 6, height: height - 6, rx: 5 }),
    isInitial && s('circle', { class: 'initial', cx: -7, cy: holdsStates ? 12 : height / 2, r: 4 }),
    s('text', { x: width / 2, y: 19, class: 'key' }, isAny ? 'any state' : state.key),
    ...(holdsStates || isAny
      ? []
      : state.invokes.map((name, index) => s('text', { x: width / 2, y: 34 + index * 14, class: 'invoke' }, `⚙ ${name}`))),
  )
}

function lineOf(line: Line): SVGGElement {
  return s(
    'g',
    { class: 'line', 'data-from': line.from, 'data-to': line.to },
    s('title', {}, line.title),
    s('path', { d: curve(line.points), 'marker-end': 'url(#tip)' }),
    s('text', { x: line.labelAt.x, y: line.labelAt.y + 3 }, line.label),
  )
}

/** Leaves and arrives level. */
function curve(points: readonly { readonly x: number; readonly y: number }[]): string {
  return points
    .map(({ x, y }, index) => {
      const last = points[index - 1]
      if (last === undefined) return `M${x} ${y}`
      const middle = (last.x + x) / 2
      return `C${middle} ${last.y} ${middle} ${y} ${x} ${y}`
    })
    .join('')
}
