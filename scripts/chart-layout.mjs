/**
 * Where the boxes and arrows of a state chart go, by ELK (layered). Text is set in a face of fixed width, so that its size is known
 * without a browser. Every state with states inside is laid out alone, to the right and downwards; of all the combinations the one
 * is taken that is largest in the panel of a page.
 */
import Elk from 'elkjs'

const PANEL = { width: 1000, height: 460 }
/** Width of a character of a name, and of all other text. */
const KEY = 6.8
const SMALL = 6.2
const LINE = 13
const BOX = 28
const INSIDE = { x: 12, y: 28 }
/** Layouts of inner states that are tried together. */
const COMBINATIONS = 16

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

const engine = new Elk()

/** The layout of a machine as the inspector describes it, with the arrows the page makes of it. */
export async function layoutOf({ root }, arrows) {
  const [{ width, height, boxes, lines }] = await layouts(root, arrows)
  return { width, height, boxes, lines }
}

/** Layouts of what is inside a state, the best first. */
async function layouts(state, arrows) {
  const children = state.states.toSorted((a, b) => Number(b.key === state.initial) - Number(a.key === state.initial))
  let combinations = [new Map()]
  for (const child of children.filter(({ states }) => states.length > 0)) {
    const inner = await layouts(child, arrows)
    combinations = combinations.flatMap((chosen) => inner.map((layout) => new Map([...chosen, [child.path, layout]])))
  }
  const own = arrows.filter(({ box }) => box === state.path)
  const made = []
  for (const inner of combinations.slice(0, COMBINATIONS)) {
    for (const direction of ['RIGHT', 'DOWN']) made.push(await layout({ state, children, arrows: own, inner, direction }))
  }
  return made.toSorted((a, b) => scaleOf(b) - scaleOf(a)).slice(0, COMBINATIONS / 4)
}

async function layout({ state, children, arrows, inner, direction }) {
  const any = `${state.path}/*`
  const done = await engine.layout({
    id: 'box',
    layoutOptions: { ...OPTIONS, 'elk.direction': direction },
    children: [
      ...(arrows.some(({ from }) => from === any) ? [{ id: any, ...sizeOf('any state', []) }] : []),
      ...children.map((child) => ({ id: child.path, ...sizeOf(child.key, child.invokes, inner.get(child.path)) })),
    ],
    edges: arrows.map(({ from, to, labels }, index) => ({
      id: String(index),
      sources: [from],
      targets: [to],
      // Beside its line, a label often stands nearer to another line.
      labels: [{ text: labels.join(' '), ...labelSize(labels), layoutOptions: { 'elk.edgeLabels.inline': 'true' } }],
    })),
  })
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

/** In steps, so that a little more size does not turn a chart round. */
function scaleOf({ width, height }) {
  return Math.round(20 * Math.min(1.2, PANEL.width / width, PANEL.height / height))
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
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]
  return { from, to, label: labels, at: area(label), points: points.map(({ x, y }) => [round(x), round(y)]) }
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
