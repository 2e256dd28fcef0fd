/** Everything that is seen: one drawing per animation frame, from the model alone. */
import type { InspectorRecord } from '../protocol/system/inspector.js'
import { chartView } from './chart-view.js'
import { byId, h } from './elements.js'
import { logView } from './log-view.js'
import type { Model } from './model.js'
import { pluginRows } from './plugins-view.js'
import { treeView } from './tree-view.js'

export interface Commands {
  model(): Model
  pause(isPaused: boolean): void
  step(by: number): void
  go(position: number): void
  save(): void
  load(text: string): void
  workflows(directory: string): Promise<HTMLElement[]>
  /** Time of the picture, Unix ms. */
  now(): number
}

type Tab = 'actors' | 'plugins' | 'workflows'

export interface Screen {
  /** Asks for a drawing. */
  draw(): void
  /** Lights what these records changed. */
  happened(records: readonly InspectorRecord[]): void
  status(name: string, text: string): void
  tab(name: Tab): void
  showsPlugins(): boolean
  /** Asks anew for what no record tells of. */
  refresh(): void
}

const TABS: readonly Tab[] = ['actors', 'plugins', 'workflows']
const ZOOM = 1.25
const STEP = 60
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
}
const TYPES = ['event', 'transition', 'start', 'stop'] as const

export function createScreen(commands: Commands): Screen {
  const [filter, logFilter, position, file, workspace] = [
    field('filter'),
    field('log-filter'),
    field('position'),
    field('file'),
    field('workspace'),
  ]
  const [only, pause] = [field('only'), byId('pause')]
  let selected: string | undefined
  let shown: Tab = 'actors'
  let isDue = false
  let lit: readonly InspectorRecord[] = []

  const tree = treeView(byId('tree'), filter, select, draw)
  const chart = chartView(byId('chart'), byId('caption'), byId('details'))
  const log = logView(byId('log'), (index) => commands.go(index + 1))

  function select(id: string): void {
    selected = id
    draw()
  }

  function showActor(id: string): void {
    filter.value = ''
    tab('actors')
    select(id)
  }

  function tab(name: Tab): void {
    shown = name
    for (const each of TABS) {
      byId(each).hidden = each !== name
      byId(`tab-${each}`).setAttribute('aria-selected', String(each === name))
    }
    if (name === 'workflows') void showWorkflows()
    draw()
  }

  /** The session an actor belongs to, with all that happened to it. */
  function timeline(): void {
    const session = selected?.split('/').find((part) => part.startsWith('session:'))
    if (session === undefined) return
    only.checked = true
    select(session)
  }

  async function showWorkflows(): Promise<void> {
    const note = byId('workflow-note')
    try {
      const rows = await commands.workflows(workspace.value.trim())
      byId('workflow-rows').replaceChildren(...rows)
      note.textContent = rows.length === 0 ? 'There are no workflows here.' : ''
    } catch (error) {
      byId('workflow-rows').replaceChildren()
      note.textContent = error instanceof Error ? error.message : String(error)
    }
  }

  function draw(): void {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      render(commands.model())
    })
  }

  function render(model: Model): void {
    const now = commands.now()
    const fresh = lit
    lit = []
    const { records, actors, machines } = model
    const waits = model.isPaused && !pause.hasAttribute('disabled')
    pause.setAttribute('aria-pressed', String(waits))
    pause.textContent = waits ? 'Go on' : 'Pause'
    position.max = String(records.length)
    position.value = String(model.position)
    const at = records[model.position - 1]
    byId('place').textContent = at === undefined ? `0 of ${records.length}` : `${model.position} of ${records.length}`
    if (shown === 'plugins') byId('plugin-rows').replaceChildren(...pluginRows(model, now, showActor))
    if (shown !== 'actors') return
    if (selected === undefined) selected = [...actors.values()].find(({ kind }) => kind === 'runtime')?.id
    tree.update(actors.values(), selected, now)
    byId('count').textContent = `${actors.size} actors${model.dropped > 0 ? ` · ${model.dropped} records dropped` : ''}`
    const actor = selected === undefined ? undefined : actors.get(selected)
    const last = records.findLast((record, index) => index < model.position && record.actorId === selected && record.type === 'transition')
    chart.show(actor, actor?.machine === undefined ? undefined : machines.get(actor.machine), last, now)
    if (actor === undefined && selected !== undefined) byId('caption').textContent = `${selected} · ended`
    for (const record of fresh) if (record.actorId === selected && record.type === 'transition') chart.light(record)
    log.update(model, {
      types: new Set(TYPES.filter((type) => field(`show-${type}`).checked)),
      text: logFilter.value.trim().toLowerCase(),
      actorId: only.checked ? selected : undefined,
    })
    byId('workspaces').replaceChildren(...workspaces(model).map((value) => h('option', { value })))
  }

  for (const each of TABS) byId(`tab-${each}`).addEventListener('click', () => tab(each))
  pause.addEventListener('click', () => commands.pause(!commands.model().isPaused))
  byId('back').addEventListener('click', () => commands.step(-1))
  byId('forward').addEventListener('click', () => commands.step(1))
  byId('save').addEventListener('click', () => commands.save())
  byId('load').addEventListener('click', () => file.click())
  byId('timeline').addEventListener('click', timeline)
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
  byId('theme').addEventListener('click', changeTheme)
  position.addEventListener('input', () => commands.go(Number(position.value)))
  workspace.addEventListener('change', () => void showWorkflows())
  for (const each of [logFilter, only, ...TYPES.map((type) => field(`show-${type}`))]) each.addEventListener('input', draw)
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

  return {
    draw,
    happened(records) {
      lit = [...lit, ...records].slice(-200)
    },
    status(name, text) {
      byId('status').className = name
      // A trace does not go on, and is saved already.
      for (const id of ['pause', 'save']) byId(id).toggleAttribute('disabled', name === 'trace' || name === 'idle')
      byId('status').textContent = text
    },
    tab,
    showsPlugins: () => shown === 'plugins',
    refresh: () => void (shown === 'workflows' && showWorkflows()),
  }
}

function workspaces({ plugins }: Model): string[] {
  return [...new Set(plugins.flatMap(({ workspace }) => workspace ?? []))].toSorted()
}

function changeTheme(): void {
  const { dataset } = document.documentElement
  const isDark = dataset['theme'] === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : dataset['theme'] === 'dark'
  dataset['theme'] = isDark ? 'light' : 'dark'
}

function field(id: string): HTMLInputElement {
  const element = byId(id)
  if (!(element instanceof HTMLInputElement)) throw new Error(`#${id} is no field`)
  return element
}
