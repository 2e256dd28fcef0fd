/**
 * Where the boxes and arrows of a state chart go, by ELK (layered). Text is set in a face of fixed width, so that its size is known
 * without a browser. Every state with states inside is laid out alone, in several ways; of all the combinations the one is taken
 * that is largest in the panel of a page.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Elk from 'elkjs'
import { root as repository } from './generated.mjs'

/** Room for a chart: between the panel above a log of fifteen rows in a window of 1280 x 720 and that whole window; and the scale at which a chart is as readable as can be. */
const PANEL = { width: 1080, height: 440 }
const WHOLE = 1
/** Width of a character of a name, and of all other text. */
const KEY = 6.8
const SMALL = 6.2
const LINE = 13
const BOX = 28
const INSIDE = { x: 12, y: 28 }
/** Layouts of inner states that are tried together. */
const COMBINATIONS = 9
const CHOICES = 3
const PLAIN = ['RIGHT', 'DOWN'].map((direction) => ({ 'elk.direction': direction }))
/** Tried where plain layouts leave the chart small: other layers, lines that merge, and long chains that go on in another row. */
const DENSE = PLAIN.flatMap((direction) =>
  ['NETWORK_SIMPLEX', 'LONGEST_PATH', 'COFFMAN_GRAHAM'].flatMap((layers) => {
    const own = { ...direction, 'elk.layered.layering.strategy': layers }
    const wrapped = ['1.6', '2.4', '3.2'].flatMap((ratio) =>
      ['NETWORK_SIMPLEX', 'BRANDES_KOEPF'].map((placement) => ({
        ...own,
        'elk.layered.nodePlacement.strategy': placement,
        'elk.layered.wrapping.strategy': 'MULTI_EDGE',
        'elk.layered.considerModelOrder.strategy': 'NONE',
        'elk.aspectRatio': ratio,
      })),
    )
    return [own, { ...own, 'elk.layered.mergeEdges': 'true' }, ...wrapped]
  }),
)

const OPTIONS = {
  'elk.algorithm': 'layered',
  // Otherwise a state that others lead to comes first, and the initial one last.
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.spacing.nodeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeNodeBetweenLayers': '10',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
  'elk.spacing.nodeNode': '14',
  'elk.spacing.edgeNode': '9',
  'elk.spacing.edgeEdge': '7',
  'elk.spacing.portPort': '8',
  'elk.spacing.componentComponent': '16',
  'elk.padding': '[top=4,left=14,bottom=4,right=4]',
}

/** Of a label that is not there. */
const NOWHERE = { x: 0, y: 0, width: 0, height: 0 }
const engine = new Elk()

/** The layout of a machine as the inspector describes it, with the arrows the page makes of it, for the room of a panel. */
export async function layoutOf({ root }, arrows, panel = PANEL) {
  const [{ width, height, boxes, lines }] = await layouts(root, arrows, panel)
  return { width, height, boxes, lines }
}

/** What a layout follows from: the same for the same machine, arrows, room and way of laying out. */
export function layoutKey(machine, arrows, panel = PANEL) {
  const own = readFileSync(fileURLToPath(import.meta.url), 'utf8')
  const { version } = JSON.parse(readFileSync(join(repository, 'node_modules/elkjs/package.json'), 'utf8'))
  return createHash('sha256')
    .update(JSON.stringify([own, version, machine, arrows, panel]))
    .digest('hex')
    .slice(0, 32)
}

/** Layouts of what is inside a state, the best first. */
async function layouts(state, arrows, panel) {
  const children = state.states.toSorted((a, b) => Number(b.key === state.initial) - Number(a.key === state.initial))
  let combinations = [new Map()]
  for (const child of children.filter(({ states }) => states.length > 0)) {
    const inner = await layouts(child, arrows, panel)
    combinations = combinations.flatMap((chosen) => inner.map((layout) => new Map([...chosen, [child.path, layout]])))
  }
  const own = arrows.filter(({ box }) => box === state.path)
  const chosen = combinations.slice(0, COMBINATIONS)
  const attempt = async (ways) => {
    const made = []
    for (const inner of chosen) for (const way of ways) made.push(await layout({ state, children, arrows: own, inner, way }))
    return made.filter((each) => each !== undefined)
  }
  const plain = await attempt(PLAIN)
  const isRead = state.path === '' && plain.some((each) => scaleOf(each, panel) >= WHOLE)
  const made = isRead ? plain : [...plain, ...(await attempt(DENSE))]
  return useful(made.toSorted((a, b) => scaleOf(b, panel) - scaleOf(a, panel))).slice(0, CHOICES)
}

/** Without those that another one is smaller than in both directions. */
function useful(made) {
  return made.filter((each, index) => !made.some((other, at) => isInside(other, each) && (at < index || !isInside(each, other))))
}

function isInside(a, b) {
  return a.width <= b.width && a.height <= b.height
}

/** Undefined when a line is broken, as happens now and then where lines merge and wrap, or when a label lies upon something. */
async function layout({ state, children, arrows, inner, way }) {
  const any = `${state.path}/*`
  const done = await engine.layout({
    id: 'box',
    layoutOptions: { ...OPTIONS, ...way },
    children: [
      ...(arrows.some(({ from }) => from === any) ? [{ id: any, ...sizeOf('any state', []) }] : []),
      ...children.map((child) => ({ id: child.path, ...sizeOf(child.key, child.invokes, inner.get(child.path)) })),
    ],
    edges: arrows.map(({ from, to, labels }, index) => ({
      id: String(index),
      sources: [from],
      targets: [to],
      // Beside its line, a label often stands nearer to another line.
      labels:
        labels.length === 0 ? [] : [{ text: labels.join(' '), ...labelSize(labels), layoutOptions: { 'elk.edgeLabels.inline': 'true' } }],
    })),
  })
  if (!done.edges.every((edge) => isWhole(edge, done.children))) return undefined
  const solid = [...done.children, ...done.edges.flatMap(({ labels }) => labels)]
  if (solid.some((a, index) => solid.slice(index + 1).some((b) => overlap(a, b)))) return undefined
  const within = done.children.flatMap(({ id, x, y }) => {
    const layout = inner.get(id)
    return layout === undefined ? [] : [moved(layout, x + INSIDE.x, y + INSIDE.y)]
  })
  return {
    width: Math.ceil(done.width),
    height: Math.ceil(done.height),
    boxes: [...done.children.map((child) => ({ path: child.id, ...area(child) })), ...within.flatMap(({ boxes }) => boxes)],
    lines: [...done.edges.map((edge) => line(edge, arrows[Number(edge.id)])), ...within.flatMap(({ lines }) => lines)],
  }
}

/** Goes from box to box, up, down and to the sides. */
function isWhole({ sources: [from], targets: [to], sections = [] }, boxes) {
  const [section, ...others] = sections
  if (section === undefined || others.length > 0) return false
  const points = pointsOf(section)
  const touches = (id, { x, y }) => {
    const box = boxes.find((each) => each.id === id)
    return x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y - 1 && y <= box.y + box.height + 1
  }
  const isStraight = points.every(
    ({ x, y }, index) => index === 0 || Math.min(Math.abs(x - points[index - 1].x), Math.abs(y - points[index - 1].y)) < 1,
  )
  return isStraight && touches(from, points[0]) && touches(to, points.at(-1))
}

function pointsOf({ startPoint, bendPoints = [], endPoint }) {
  return [startPoint, ...bendPoints, endPoint]
}

function overlap(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/** In steps, so that a little more size does not turn a chart round. */
function scaleOf({ width, height }, panel) {
  return Math.round(20 * Math.min(1.2, panel.width / width, panel.height / height)) / 20
}

function sizeOf(key, invokes, inner) {
  if (inner !== undefined) {
    return { width: Math.max(inner.width + 2 * INSIDE.x, key.length * KEY + 24), height: inner.height + INSIDE.y + 12 }
  }
  const width = Math.max(key.length * KEY, ...invokes.map((name) => (name.length + 2) * SMALL)) + 18
  return { width: Math.ceil(width), height: BOX + invokes.length * LINE }
}

function labelSize(lines) {
  return { width: Math.ceil(Math.max(...lines.map(({ length }) => length)) * SMALL) + 6, height: lines.length * LINE + 2 }
}

function line({ sections: [section], labels: [label] }, { from, to, labels }) {
  return { from, to, label: labels, at: area(label ?? NOWHERE), points: pointsOf(section).map(({ x, y }) => [round(x), round(y)]) }
}

function moved({ boxes, lines }, byX, byY) {
  const shift = ({ x, y, ...rest }) => ({ ...rest, x: round(x + byX), y: round(y + byY) })
  return {
    boxes: boxes.map(shift),
    lines: lines.map((each) => ({ ...each, at: shift(each.at), points: each.points.map(([x, y]) => [round(x + byX), round(y + byY)]) })),
  }
}

function area({ x, y, width, height }) {
  return { x: round(x), y: round(y), width: round(width), height: round(height) }
}

function round(value) {
  return Math.round(value * 10) / 10
}
