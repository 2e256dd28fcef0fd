/** Buttons, fields and files of the page, and what they do. */
import { byId, field, say } from '../elements.js'
import { bindPanels } from '../panels.js'
import { isSequencing, sequencing, tab, timeline } from './moves.js'
import { type Showing, TABS, TYPES } from '../showing.js'

const ZOOM = 1.25
const STEP = 60
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
}

export function bindControls(showing: Showing): void {
  const { commands, draw, fields, lanes } = showing
  const { logFilter, position, file, only, failures, pause } = fields
  for (const each of TABS) byId(`tab-${each}`).addEventListener('click', () => tab(showing, each))
  pause.addEventListener('click', () => commands.pause(!commands.model().isPaused))
  byId('back').addEventListener('click', () => commands.step(-1))
  byId('forward').addEventListener('click', () => commands.step(1))
  byId('mark-back').addEventListener('click', () => commands.mark(-1))
  byId('mark-forward').addEventListener('click', () => commands.mark(1))
  byId('save').addEventListener('click', () => commands.save())
  byId('load').addEventListener('click', () => file.click())
  byId('timeline').addEventListener('click', () => timeline(showing))
  byId('sequence-on').addEventListener('click', () => sequencing(showing, !isSequencing()))
  byId('lanes-clear').addEventListener('click', () => {
    lanes.clear()
    draw()
  })
  byId('theme').addEventListener('click', changeTheme)
  position.addEventListener('input', () => commands.go(Number(position.value)))
  for (const each of [logFilter, only, failures, ...TYPES.map((type) => field(`show-${type}`))]) each.addEventListener('input', draw)
  bindExplain(showing)
  byId('present').addEventListener('click', () => commands.present())
  bindChart(showing)
  bindFiles(showing)
  bindPanels()
}

/** What would be decided of a command in the workspace whose answers are shown. */
function bindExplain({ commands }: Showing): void {
  const answer = byId('explanation')
  byId('explain').addEventListener('submit', (event) => {
    event.preventDefault()
    const command = field('explain-command').value.trim()
    if (command === '') return
    commands.explain(field('remembered-place').value.trim(), command).then(
      (lines) => answer.replaceChildren(...lines),
      (error: unknown) => say(answer, error instanceof Error ? error.message : String(error)),
    )
  })
}

/** Nothing is filtered any more. */
export function showAll({ draw, fields: { logFilter, only, failures } }: Showing): void {
  logFilter.value = ''
  for (const each of [only, failures]) each.checked = false
  for (const type of TYPES) field(`show-${type}`).checked = true
  draw()
}

function bindChart({ views: { chart } }: Showing): void {
  byId('smaller').addEventListener('click', () => chart.zoom(1 / ZOOM))
  byId('larger').addEventListener('click', () => chart.zoom(ZOOM))
  byId('fit').addEventListener('click', () => chart.fit())
  byId('whole').addEventListener('click', () => {
    const isWhole = byId('actors').classList.toggle('whole')
    byId('whole').setAttribute('aria-pressed', String(isWhole))
  })
  byId('chart').addEventListener('keydown', ({ key }) => {
    const [x, y] = ARROWS[key] ?? [0, 0]
    if (x !== 0 || y !== 0) chart.move(x * STEP, y * STEP)
  })
}

/** Traces that are chosen, or dropped on the page. */
function bindFiles({ commands, fields: { file } }: Showing): void {
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? []
    file.value = ''
    if (chosen !== undefined) void chosen.text().then((text) => commands.load(text))
  })
  document.addEventListener('dragover', (event) => event.preventDefault())
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    const [dropped] = event.dataTransfer?.files ?? []
    if (dropped !== undefined) void dropped.text().then((text) => commands.load(text))
  })
}

function changeTheme(): void {
  const { dataset } = document.documentElement
  const isDark = dataset['theme'] === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : dataset['theme'] === 'dark'
  dataset['theme'] = isDark ? 'light' : 'dark'
}
