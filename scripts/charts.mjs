/**
 * Writes what is made of the state machines: docs/charts/<machine>.{md,svg}, a drawing and tables of transitions, effects and delays,
 * and the layouts that the inspector sends to its page.
 * With --check nothing is written; stale files are named and the exit code is 1.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { layoutKey, layoutOf } from './chart-layout.mjs'
import { loadSource, root, settle } from './generated.mjs'

const LAYOUTS = 'src/actors/inspector'
const [{ createCharts }, { arrowsOf }, { drawingOf }] = await Promise.all(
  [`${LAYOUTS}/charts.ts`, 'src/programs/page/chart/graph.ts', 'src/programs/page/chart/drawing.ts'].map(loadSource),
)
/** Of a drawing outside of the page, by what the reader prefers. */
const COLOURS = `.chart { --text: #1c1e21; --soft: #676b73; --back: #fff; --inside: #f3f4f6; --panel: #fff; }
@media (prefers-color-scheme: dark) {
.chart { --text: #e7e9ec; --soft: #9aa1ab; --back: #15171a; --inside: #22262b; --panel: #1c1f23; }
}
`
/** Machines the page also shows among other things, and the room it has for them there. */
const OVERVIEWS = new Set(['package'])
const OVERVIEW = { width: 940, height: 236 }
const charts = createCharts()
/** The layouts that are there, and what each was made from: only what has changed is laid out anew, a search that takes seconds. */
const [kept, keptKeys] = [join(root, LAYOUTS, 'layouts.json'), join(root, 'docs/charts/layouts.json')].map(readJson)
const keys = new Map()

const machines = readdirSync(join(root, 'src/machines'), { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.machine.ts'),
)
const pages = []
for (const file of machines.toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1))) pages.push(await page(file))
settle('docs/charts', [
  ['README.md', index(pages)],
  ...pages.flatMap(({ name, text, svg }) => [
    [`${name}.md`, text],
    [`${name}.svg`, svg],
  ]),
])
settle('docs/charts', [['layouts.json', `${JSON.stringify(Object.fromEntries(keys), undefined, 1)}\n`]], { prune: false })
const layouts = pages.flatMap(({ id, layout, overview }) => [
  [id, layout],
  ...(overview === undefined ? [] : [[`${id}/overview`, overview]]),
])
settle(LAYOUTS, [['layouts.json', rows(Object.fromEntries(layouts))]], { prune: false })

async function page(file) {
  const module = await loadSource(`src/machines/${file}`)
  const machine = Object.values(module).find((value) => value?.root?.transitions !== undefined)
  if (machine === undefined) throw new Error(`${file} exports no machine`)
  const name = basename(file, '.machine.ts')
  const nodes = allNodes(machine.root)
  const chart = charts.of(machine)
  const layout = await keptLayoutOf(chart.id, chart, arrowsOf(chart))
  const nameless = arrowsOf(chart).map((arrow) => ({ ...arrow, labels: [] }))
  const overview = OVERVIEWS.has(chart.id) ? await keptLayoutOf(`${chart.id}/overview`, chart, nameless, OVERVIEW) : undefined
  const sections = [
    `# ${machine.id}`,
    `Generated from \`src/machines/${file}\` by \`npm run charts\`.`,
    `![State chart of ${machine.id}](${name}.svg)`,
    '## Transitions',
    table(
      ['in', 'on', 'if', 'goes to', 'does'],
      nodes
        .flatMap((node) => transitions(node, stateAt(chart.root, node)))
        .map((row) => [row.from, row.on, row.guard, row.to, row.actions]),
    ),
    ...effects(nodes),
    ...delays(machine),
  ]
  return { name, id: machine.id, states: nodes.length - 1, layout, overview, svg: svg(chart, layout), text: `${sections.join('\n\n')}\n` }
}

async function keptLayoutOf(id, ...subject) {
  const key = layoutKey(...subject)
  keys.set(id, key)
  return keptKeys[id] === key && kept[id] !== undefined ? kept[id] : layoutOf(...subject)
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

function svg(chart, layout) {
  const [width, height] = [layout.width + 8, layout.height + 8]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="${width}" height="${height}" viewBox="-4 -4 ${width} ${height}">`,
    `<style>\n${COLOURS}${readFileSync(join(root, 'src/programs/page/chart.css'), 'utf8')}</style>`,
    '<rect x="-4" y="-4" width="100%" height="100%" fill="var(--panel)"/>',
    ...drawingOf(chart, layout).map(markup),
    '</svg>\n',
  ].join('\n')
}

function markup(shape) {
  if (typeof shape === 'string') return escape(shape)
  const attributes = Object.entries(shape.attributes).map(([name, value]) => ` ${name}="${escape(String(value))}"`)
  return `<${shape.tag}${attributes.join('')}>${shape.children.map(markup).join('')}</${shape.tag}>`
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** JSON with a line for each box and each arrow. */
function rows(value, indent = '') {
  if (Array.isArray(value)) return `[\n${value.map((each) => `${indent} ${JSON.stringify(each)}`).join(',\n')}\n${indent}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, each]) => `${indent} ${JSON.stringify(key)}: ${rows(each, `${indent} `)}`)
  return `{\n${entries.join(',\n')}\n${indent}}${indent === '' ? '\n' : ''}`
}

function allNodes(node) {
  return [node, ...Object.values(node.states).flatMap(allNodes)]
}

/** The state of a chart that a node of its machine became. */
function stateAt(root, node) {
  return node.path.reduce((state, key) => state.states.find((child) => child.key === key), root)
}

/** One row per transition, in the order they are tried. */
function transitions(node, state) {
  const listed = [...node.transitions.values()].flat()
  return [...(node.always ?? []), ...listed].map((transition, index) => ({
    from: label(node),
    on: eventLabel(transition.eventType),
    guard: state.transitions[index].guard ?? '',
    to: transition.target === undefined ? '' : transition.target.map(label).join(', '),
    actions: transition.actions.map(actionLabel).join(', '),
  }))
}

function effects(nodes) {
  const rows = nodes.flatMap((node) => node.invoke.map((invoked) => [label(node), `\`${invoked.src}\``]))
  return rows.length === 0 ? [] : ['## Effects', 'Begun on entry, aborted on leaving.', table(['in', 'effect'], rows)]
}

function delays(machine) {
  const rows = Object.entries(machine.implementations.delays).map(([name, value]) => [
    `\`${name}\``,
    typeof value === 'number' ? `${value} ms` : 'computed',
  ])
  return rows.length === 0 ? [] : ['## Delays', table(['delay', 'length'], rows)]
}

function index(written) {
  const rows = written.map(({ name, id, states }) => [`[${id}](${name}.md)`, String(states)])
  const intro = 'The state machines of svc. Generated by `npm run charts`; `npm run charts -- --check` fails when a page is stale.'
  return `# Charts\n\n${intro}\n\n${table(['machine', 'states'], rows)}\n`
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** `stopping.refusing`; the machine itself is `any state`. */
function label(node) {
  return node.path.length === 0 ? 'any state' : node.path.join('.')
}

function eventLabel(type) {
  if (type === '') return 'at once'
  const actor = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type)
  if (actor !== null) return `${actor[2] === '*' ? 'child' : actor[2]} ${actor[1] === 'done' ? 'done' : 'failed'}`
  const delayed = /^xstate\.after\.([^.]+)\./.exec(type)
  if (delayed !== null) return `after ${delayed[1]}`
  if (type.startsWith('xstate.done.state.')) return 'inner end'
  return type
}

function actionLabel(action) {
  if (typeof action === 'string') return action
  if (typeof action === 'function') return action.type?.replace(/^xstate\./, '') ?? action.name
  return action.type.replace(/^xstate\./, '')
}
