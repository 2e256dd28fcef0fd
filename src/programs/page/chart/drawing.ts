/** A laid out state chart as SVG, told as data: the page makes elements of it, the documentation text. */
import type { InspectedLayout, InspectedMachine, InspectedState } from '../../../protocol/system/inspector.js'
import { allStates, arrowsOf } from './graph.js'

export interface Shape {
  readonly tag: 'g' | 'rect' | 'circle' | 'path' | 'text' | 'tspan' | 'title'
  readonly attributes: Readonly<Record<string, string | number>>
  readonly children: readonly (Shape | string)[]
}

type Area = Pick<InspectedLayout['boxes'][number], 'x' | 'y' | 'width' | 'height'>
type Point = readonly [number, number]

const CORNER = 6
const LINE = 13

/** Boxes below, then lines, then labels, so that no line crosses a text. */
export function drawingOf(machine: InspectedMachine, layout: InspectedLayout): Shape[] {
  const states = new Map([...allStates(machine.root)].map((state) => [state.path, state]))
  const titles = new Map(arrowsOf(machine).map(({ from, to, title }) => [`${from}\n${to}`, title]))
  const initial = new Set([...states.values()].flatMap((state) => initialOf(state) ?? []))
  const arrows = layout.lines.map(({ from, to, label, at, points }) => {
    const title = shape('title', {}, titles.get(`${from}\n${to}`) ?? label.join('\n'))
    const ends = { 'data-from': from, 'data-to': to }
    return [
      shape('g', { class: 'line', ...ends }, title, shape('path', { d: rounded(points) }), tip(points)),
      label.length === 0
        ? []
        : [
            shape(
              'g',
              { class: to.includes('.') ? 'label inside' : 'label', ...ends },
              title,
              rect(at, 2),
              ...lines(label, at.x + at.width / 2, at.y + 11),
            ),
          ],
    ] as const
  })
  return [
    ...layout.boxes.map((box) => boxOf(box, states.get(box.path), initial.has(box.path))),
    ...arrows.map(([line]) => line),
    ...arrows.flatMap(([, label]) => label),
  ]
}

function boxOf(area: Area & { readonly path: string }, state: InspectedState | undefined, isInitial: boolean): Shape {
  const { x, y, width, height, path } = area
  const isLeaf = state === undefined || state.states.length === 0
  const middle = x + width / 2
  return shape(
    'g',
    { class: `box ${state?.type ?? 'any'}`, 'data-state': path },
    rect(area, 7),
    ...(state?.type === 'final' ? [shape('rect', { class: 'ring', x: x + 3, y: y + 3, width: width - 6, height: height - 6, rx: 5 })] : []),
    ...(isInitial ? [shape('circle', { class: 'initial', cx: x - 7, cy: isLeaf ? y + height / 2 : y + 14, r: 4 })] : []),
    shape('text', { class: 'key', x: middle, y: y + 18 }, state?.key ?? 'any state'),
    ...(isLeaf ? lines(state?.invokes.map((name) => `⚙ ${name}`) ?? [], middle, y + 32, 'invoke') : []),
  )
}

function initialOf({ path, initial }: InspectedState): string | undefined {
  return initial === undefined || path === '' ? initial : `${path}.${initial}`
}

function lines(texts: readonly string[], x: number, y: number, name = 'text'): Shape[] {
  return texts.map((text, index) => shape('text', { class: name, x, y: y + index * LINE }, text))
}

function rect({ x, y, width, height }: Area, rx: number): Shape {
  return shape('rect', { x, y, width, height, rx })
}

function tip(points: readonly Point[]): Shape {
  const [[x, y], [fromX, fromY]] = [points.at(-1) ?? [0, 0], points.at(-2) ?? [0, 0]]
  const length = Math.hypot(x - fromX, y - fromY) || 1
  const [dx, dy] = [(x - fromX) / length, (y - fromY) / length]
  const wing = (side: number) => `${round(x - 7 * dx - side * 3.5 * dy)} ${round(y - 7 * dy + side * 3.5 * dx)}`
  return shape('path', { class: 'tip', d: `M${x} ${y}L${wing(1)}L${wing(-1)}z` })
}

/** Straight pieces with round corners. */
function rounded(points: readonly Point[]): string {
  return points
    .map(([x, y], index) => {
      const [before, after] = [points[index - 1], points[index + 1]]
      if (before === undefined) return `M${x} ${y}`
      if (after === undefined) return `L${x} ${y}`
      return `L${towards([x, y], before)}Q${x} ${y} ${towards([x, y], after)}`
    })
    .join('')
}

function towards([x, y]: Point, [otherX, otherY]: Point): string {
  const length = Math.hypot(otherX - x, otherY - y) || 1
  const part = Math.min(CORNER, length / 2) / length
  return `${round(x + (otherX - x) * part)} ${round(y + (otherY - y) * part)}`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function shape(tag: Shape['tag'], attributes: Shape['attributes'], ...children: Shape['children']): Shape {
  return { tag, attributes, children }
}
