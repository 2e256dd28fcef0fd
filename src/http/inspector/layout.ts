/**
 * Where the boxes of a state chart go: left to right in layers, each box laid out inside first. Labels take part as boxes
 * of their own, so that nothing lies upon anything else.
 *
 * Per box: cycles are broken, layers are longest paths, long arrows get a knot in every layer, crossings are reduced by
 * barycentres, and knots are pulled towards their neighbours.
 */
import type { InspectedMachine, InspectedState } from '../../protocol/inspector.js'
import { anyOf, type Arrow, arrowsOf } from './graph.js'

export interface Box {
  readonly state: InspectedState
  /** Path, or that of "any state". */
  readonly path: string
  x: number
  y: number
  readonly width: number
  readonly height: number
  readonly isAny: boolean
}

export interface Line extends Arrow {
  points: { x: number; y: number }[]
  labelAt: { x: number; y: number }
}

export interface ChartLayout {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
}

const CHAR = 6.6
const SMALL_CHAR = 5.8
const LINE = 14
const PAD = 14
const HEAD = 24
const GAP_X = 22
const GAP_Y = 14

export function layoutChart({ root }: InspectedMachine): ChartLayout {
  return layoutInside(root)
}

interface Knot {
  readonly box?: Box
  readonly inner?: ChartLayout
  readonly label?: Line
  readonly width: number
  readonly height: number
  x: number
  y: number
  order: number
}

function layoutInside(box: InspectedState): ChartLayout {
  const arrows = arrowsOf(box)
  const knots = new Map<string, Knot>(box.states.map((state) => [state.path, knotOf(state)]))
  if (arrows.some(({ from }) => from === anyOf(box))) knots.set(anyOf(box), anyKnot(box))
  const ids = [...knots.keys()]
  const first = box.states.find(({ key }) => key === box.initial)?.path ?? ids[0]
  const forward = withoutCycles(ids, arrows, first)
  const rank = longestPaths(ids, forward)
  const layers: Knot[][] = []
  const links: [Knot, Knot][] = []
  const chains: { line: Line; chain: Knot[]; isTurned: boolean }[] = []
  const put = (knot: Knot, layer: number) => {
    const list = (layers[layer] ??= [])
    knot.order = list.length
    list.push(knot)
  }
  for (const [id, knot] of knots) put(knot, 2 * (rank.get(id) ?? 0))
  for (const { arrow, from, to, isTurned } of forward) {
    const start = knots.get(from)
    const end = knots.get(to)
    if (start === undefined || end === undefined) continue
    const [low, high] = [2 * (rank.get(from) ?? 0), 2 * (rank.get(to) ?? 0)]
    const line: Line = { ...arrow, points: [], labelAt: { x: 0, y: 0 } }
    const middle = (low + high) / 2 + (((low + high) / 2) % 2 === 0 ? 1 : 0)
    const chain = [start]
    for (let layer = low + 1; layer < high; layer++) {
      const knot = layer === middle ? labelKnot(line) : { width: 0, height: 6, x: 0, y: 0, order: 0 }
      put(knot, layer)
      chain.push(knot)
    }
    chain.push(end)
    for (let index = 1; index < chain.length; index++) {
      const [a, b] = [chain[index - 1], chain[index]]
      if (a !== undefined && b !== undefined) links.push([a, b])
    }
    chains.push({ line, chain, isTurned })
  }
  const filled = layers.map((layer) => layer ?? [])
  orderLayers(filled, links)
  const size = place(filled, links)
  const boxes = [...knots.values()].flatMap(({ box: own, inner, x, y }) => {
    if (own === undefined) return []
    own.x = x
    own.y = y
    return [own, ...(inner === undefined ? [] : moved(inner.boxes, x + PAD, y + HEAD))]
  })
  const inside = [...knots.values()].flatMap(({ inner, x, y }) => (inner === undefined ? [] : movedLines(inner.lines, x + PAD, y + HEAD)))
  return { ...size, boxes, lines: [...inside, ...chains.map(drawn)] }
}

function knotOf(state: InspectedState): Knot {
  const inner = state.states.length > 0 ? layoutInside(state) : undefined
  const text = Math.max(state.key.length * CHAR, ...state.invokes.map((name) => (name.length + 2) * SMALL_CHAR))
  const width = Math.max(70, text + 2 * PAD, inner === undefined ? 0 : inner.width + 2 * PAD)
  const height = inner === undefined ? 30 + state.invokes.length * LINE : inner.height + HEAD + PAD
  return {
    box: { state, path: state.path, x: 0, y: 0, width, height, isAny: false },
    ...(inner && { inner }),
    width,
    height,
    x: 0,
    y: 0,
    order: 0,
  }
}

function anyKnot(state: InspectedState): Knot {
  const [width, height] = [80, 26]
  return { box: { state, path: anyOf(state), x: 0, y: 0, width, height, isAny: true }, width, height, x: 0, y: 0, order: 0 }
}

function labelKnot(line: Line): Knot {
  return { label: line, width: line.label.length * SMALL_CHAR + 12, height: LINE + 4, x: 0, y: 0, order: 0 }
}

interface Forward {
  readonly arrow: Arrow
  readonly from: string
  readonly to: string
  readonly isTurned: boolean
}

/** Arrows that lead back to where a walk came from are turned round. */
function withoutCycles(ids: readonly string[], arrows: readonly Arrow[], first: string | undefined): Forward[] {
  const state = new Map<string, 'open' | 'done'>()
  const forward: Forward[] = []
  const visit = (id: string): void => {
    state.set(id, 'open')
    for (const arrow of arrows.filter(({ from }) => from === id)) {
      const isTurned = state.get(arrow.to) === 'open'
      forward.push(isTurned ? { arrow, from: arrow.to, to: id, isTurned } : { arrow, from: id, to: arrow.to, isTurned })
      if (!state.has(arrow.to)) visit(arrow.to)
    }
    state.set(id, 'done')
  }
  for (const id of first === undefined ? ids : [first, ...ids]) if (!state.has(id)) visit(id)
  return forward
}

function longestPaths(ids: readonly string[], forward: readonly Forward[]): Map<string, number> {
  const rank = new Map(ids.map((id) => [id, 0]))
  for (let round = 0; round < ids.length; round++) {
    let isSettled = true
    for (const { from, to } of forward) {
      const least = (rank.get(from) ?? 0) + 1
      if ((rank.get(to) ?? 0) >= least) continue
      rank.set(to, least)
      isSettled = false
    }
    if (isSettled) break
  }
  return rank
}

function neighboursOf(links: readonly [Knot, Knot][]): { before: Map<Knot, Knot[]>; after: Map<Knot, Knot[]> } {
  const before = new Map<Knot, Knot[]>()
  const after = new Map<Knot, Knot[]>()
  for (const [a, b] of links) {
    before.set(b, [...(before.get(b) ?? []), a])
    after.set(a, [...(after.get(a) ?? []), b])
  }
  return { before, after }
}

function orderLayers(layers: Knot[][], links: readonly [Knot, Knot][]): void {
  const { before, after } = neighboursOf(links)
  for (let sweep = 0; sweep < 12; sweep++) {
    const near = sweep % 2 === 0 ? before : after
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      const centre = new Map(layer.map((knot) => [knot, mean(near.get(knot)?.map(({ order }) => order)) ?? knot.order]))
      layer.sort((a, b) => (centre.get(a) ?? 0) - (centre.get(b) ?? 0))
      layer.forEach((knot, index) => (knot.order = index))
    }
  }
}

function place(layers: Knot[][], links: readonly [Knot, Knot][]): { width: number; height: number } {
  const { before, after } = neighboursOf(links)
  let x = 0
  for (const layer of layers) {
    const width = Math.max(0, ...layer.map((knot) => knot.width))
    let y = 0
    for (const knot of layer) {
      knot.x = x + (width - knot.width) / 2
      knot.y = y
      y += knot.height + GAP_Y
    }
    x += width + GAP_X
  }
  for (let round = 0; round < 16; round++) {
    for (const layer of round % 2 === 0 ? layers : layers.toReversed()) settle(layer, round % 2 === 0 ? before : after)
  }
  const all = layers.flat()
  const top = Math.min(0, ...all.map(({ y }) => y))
  for (const knot of all) knot.y -= top
  return { width: Math.max(0, x - GAP_X), height: Math.max(0, ...all.map((knot) => knot.y + knot.height)) }
}

/** Moves the knots of a layer towards their neighbours; they keep their order and their distance. */
function settle(layer: readonly Knot[], near: ReadonlyMap<Knot, readonly Knot[]>): void {
  const wishes = layer.map(
    (knot) => (mean(near.get(knot)?.map((other) => other.y + other.height / 2)) ?? knot.y + knot.height / 2) - knot.height / 2,
  )
  let floor = Number.NEGATIVE_INFINITY
  layer.forEach((knot, index) => {
    knot.y = Math.max(floor, wishes[index] ?? knot.y)
    floor = knot.y + knot.height + GAP_Y
  })
  // What was pushed down is pulled up again as a whole, half of the way.
  const excess = mean(layer.map((knot, index) => knot.y - (wishes[index] ?? knot.y))) ?? 0
  for (const knot of layer) knot.y -= excess
}

function mean(values: readonly number[] | undefined): number | undefined {
  return values === undefined || values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
}

function drawn({ line, chain, isTurned }: { line: Line; chain: readonly Knot[]; isTurned: boolean }): Line {
  const points = chain.flatMap((knot, index) => {
    const y = knot.y + knot.height / 2
    if (index === 0) return [{ x: knot.x + knot.width, y }]
    if (index === chain.length - 1) return [{ x: knot.x, y }]
    if (knot.label === undefined) return [{ x: knot.x, y }]
    line.labelAt = { x: knot.x + knot.width / 2, y }
    return [
      { x: knot.x, y: y + LINE / 2 },
      { x: knot.x + knot.width, y: y + LINE / 2 },
    ]
  })
  line.points = isTurned ? points.toReversed() : points
  return line
}

function moved(boxes: readonly Box[], dx: number, dy: number): Box[] {
  return boxes.map((box) => ({ ...box, x: box.x + dx, y: box.y + dy }))
}

function movedLines(lines: readonly Line[], dx: number, dy: number): Line[] {
  const shift = ({ x, y }: { x: number; y: number }) => ({ x: x + dx, y: y + dy })
  return lines.map((line) => ({ ...line, points: line.points.map(shift), labelAt: shift(line.labelAt) }))
}
