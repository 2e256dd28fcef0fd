/** Everything that is seen: one drawing per animation frame, from the model alone. */
import type { InspectedPlugin, InspectorRecord } from '../../protocol/system/inspector.js'
import { type Address, writeAddress } from './address.js'
import { chartView } from './chart/chart-view.js'
import { byId, h, say } from './elements.js'
import { logView } from './views/log-view.js'
import type { Model } from './model.js'
import { after } from './platform.js'
import { type PlaceTable, placeTable } from './views/place-table.js'
import { pluginList } from './views/plugin-list.js'
import type { Move } from './plugin-moves.js'
import { pluginPage } from './plugin-page.js'
import { LANES } from './sequence.js'
import { recordPane } from './views/record-view.js'
import { sequenceView } from './views/sequence-view.js'
import { treeView } from './views/tree-view.js'

export interface Commands {
  model(): Model
  pause(isPaused: boolean): void
  step(by: number): void
  go(position: number): void
  save(): void
  load(text: string): void
  workflows(directory: string): Promise<HTMLElement[]>
  /** Programs that load code of a workspace. */
  programs(directory: string): Promise<HTMLElement[]>
  /** The latest sessions as buttons, and the turns of the chosen one. */
  sessions(chosen: string | undefined, show: (id: string) => void): Promise<{ readonly list: HTMLElement[]; readonly turns: HTMLElement[] }>
  /** Does something to a plugin; absent where there is no server. */
  actOnPlugin(): ((plugin: InspectedPlugin, act: NonNullable<Move['act']>) => void) | undefined
  /** Something is looked at that the server has to be asked for. */
  wanted(): void
  /** What is looked at has changed: the fragment of an address that leads here. */
  moved(fragment: string): void
  /** Time of the picture, Unix ms. */
  now(): number
}

type Tab = 'actors' | 'plugins' | 'workflows' | 'sessions' | 'programs'

export interface Screen {
  /** Asks for a drawing. */
  draw(): void
  /** Lights what these records changed. */
  happened(records: readonly InspectorRecord[]): void
  status(name: string, text: string): void
  tab(name: Tab): void
  showsPlugins(): boolean
  /** Key of the plugin whose page is open. */
  shownPlugin(): string | undefined
  /** Puts the selected actor into the sequence diagram, or takes it out. */
  toggleLane(): void
  /** Shows what an address leads to, but for its moment. */
  visit(address: Address): void
  /** Asks anew for what no record tells of. */
  refresh(): void
}

const TABS: readonly Tab[] = ['actors', 'plugins', 'workflows', 'sessions', 'programs']
const ZOOM = 1.25
/** Longer than the time between two clicks, ms. */
const OPENING = 300
const STEP = 60
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
}
const TYPES = ['event', 'transition', 'start', 'stop'] as const

export function createScreen(commands: Commands): Screen {
  const [filter, logFilter, position, file] = [field('filter'), field('log-filter'), field('position'), field('file')]
  const [only, failures, pause] = [field('only'), field('failures'), byId('pause')]
  let selected: string | undefined
  let shown: Tab = 'actors'
  let isDue = false
  let lit: readonly InspectorRecord[] = []
  let plugin: string | undefined
  let session: string | undefined
  /** The record that is chosen, and the one whose pane is open. */
  let chosen: number | undefined
  let record: number | undefined
  let drawnRecord = ''
  let fragment = ''
  const lanes = new Set<string>()

  const tree = treeView(byId('tree'), filter, { select, toggleLane, draw })
  const chart = chartView(byId('chart'), byId('caption'), byId('details'))
  const log = logView(byId('log'), { select: ({ sequence }) => showRecord(sequence), go: (index) => commands.go(index + 1) })
  const sequence = sequenceView(byId('heads'), byId('steps'), (index) => commands.go(index + 1))
  const plugins = pluginList(byId('plugin-own'), query('#plugin-built-in > div'), query('#plugin-built-in > summary'), (key) => {
    plugin = key
    ask()
  })
  const page = pluginPage(() => ({ act: commands.actOnPlugin(), showActor }))
  const tables: Partial<Record<Tab, PlaceTable>> = {
    workflows: placeTable('workflow', field('workspace'), { read: commands.workflows, none: 'There are no workflows here.' }),
    programs: placeTable('program', field('program-place'), { read: commands.programs, none: 'No program loads code of this workspace.' }),
  }

  function select(id: string): void {
    selected = id
    draw()
  }

  /** A pane that opens moves the rows: not between the clicks of a double one. */
  function showRecord(sequence: number | undefined): void {
    chosen = sequence
    const open = () => {
      record = chosen
      draw()
    }
    if (record !== undefined || sequence === undefined) return open()
    draw()
    after(OPENING, open)
  }

  /** What only the server knows of what is shown is asked for at once. */
  function ask(): void {
    commands.wanted()
    draw()
  }

  function toggleLane(id: string): void {
    if (!lanes.delete(id) && lanes.size < LANES) lanes.add(id)
    sequencing(true)
  }

  function sequencing(isOn: boolean): void {
    byId('right').classList.toggle('sequencing', isOn)
    byId('sequence').hidden = !isOn
    byId('happened').hidden = isOn
    byId('sequence-on').setAttribute('aria-pressed', String(isOn))
    draw()
  }

  const isSequencing = () => !byId('sequence').hidden

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
    askAnew()
    if (name === 'plugins') commands.wanted()
    draw()
  }

  function askAnew(): void {
    void tables[shown]?.show()
    if (shown === 'sessions') void showSessions()
  }

  /** The session an actor belongs to, with all that happened to it. */
  function timeline(): void {
    const session = selected?.split('/').find((part) => part.startsWith('session:'))
    if (session === undefined) return
    only.checked = true
    select(session)
  }

  async function showSessions(): Promise<void> {
    const note = byId('session-note')
    // The session somebody looks at in the tree is the one that is meant.
    session ??= selected?.match(/session:(ses_\w+)/)?.[1]
    try {
      const { list, turns } = await commands.sessions(session, (id) => {
        session = id
        void showSessions()
      })
      byId('session-list').replaceChildren(...list)
      byId('session-turns').replaceChildren(...turns)
      if (session === undefined && list[0] !== undefined) {
        session = list[0].dataset['session']
        if (session !== undefined) return await showSessions()
      }
      note.textContent = 'There are no sessions here.'
      note.hidden = turns.length > 0
    } catch (error) {
      byId('session-turns').replaceChildren()
      note.hidden = false
      say(note, error instanceof Error ? error.message : String(error))
    }
    draw()
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
    if (shown === 'plugins') {
      plugin ??= model.plugins.toSorted((a, b) => (a.key < b.key ? -1 : 1)).find(({ origin }) => origin !== 'native')?.key
      plugins.update(model.plugins, plugin)
      page.update(
        model,
        model.plugins.find(({ key }) => key === plugin),
        now,
      )
    }
    remember(model)
    if (shown !== 'actors') return
    if (selected === undefined) selected = [...actors.values()].find(({ kind }) => kind === 'runtime')?.id
    tree.update(actors.values(), selected, lanes, now)
    byId('count').textContent = `${actors.size} actors${model.dropped > 0 ? ` · ${model.dropped} records dropped` : ''}`
    const actor = selected === undefined ? undefined : actors.get(selected)
    const last = records.findLast((record, index) => index < model.position && record.actorId === selected && record.type === 'transition')
    chart.show(actor, actor?.machine === undefined ? undefined : machines.get(actor.machine), last, now)
    if (actor === undefined && selected !== undefined) say(byId('caption'), `${selected} · ended`)
    for (const record of fresh) if (record.actorId === selected && record.type === 'transition') chart.light(record)
    byId('lanes-clear').hidden = !isSequencing() || lanes.size === 0
    if (isSequencing()) sequence.update(model, selected, lanes)
    else renderLog(model)
    byId('workspaces').replaceChildren(...workspaces(model).map((value) => h('option', { value })))
  }

  function renderLog(model: Model): void {
    const filter = {
      types: new Set(TYPES.filter((type) => field(`show-${type}`).checked)),
      text: logFilter.value.trim().toLowerCase(),
      actorId: only.checked ? selected : undefined,
      isFailuresOnly: failures.checked,
    }
    log.update(model, filter, chosen)
    // What is read is not exchanged under the eyes: records never change, they only go.
    const now = `${record} ${model.records[0]?.sequence ?? ''}`
    if (now === drawnRecord) return
    drawnRecord = now
    const pane = byId('record')
    pane.hidden = record === undefined
    if (record === undefined) return pane.replaceChildren()
    const ways = { showActor, show: showRecord, go: (index: number) => commands.go(index + 1), close: () => showRecord(undefined) }
    pane.replaceChildren(...recordPane(model, record, ways))
  }

  /** The address leads here again. */
  function remember(model: Model): void {
    const at = model.records[model.position - 1]
    const isPast = at !== undefined && model.isPaused
    const address = writeAddress({
      tab: shown,
      actor: selected,
      plugin: shown === 'plugins' ? plugin : undefined,
      session: shown === 'sessions' ? session : undefined,
      at: isPast ? { sequence: at.sequence, time: at.at } : undefined,
      lanes: [...lanes],
      isSequence: isSequencing(),
    })
    if (address === fragment) return
    fragment = address
    commands.moved(fragment)
  }

  for (const each of TABS) byId(`tab-${each}`).addEventListener('click', () => tab(each))
  pause.addEventListener('click', () => commands.pause(!commands.model().isPaused))
  byId('back').addEventListener('click', () => commands.step(-1))
  byId('forward').addEventListener('click', () => commands.step(1))
  byId('save').addEventListener('click', () => commands.save())
  byId('load').addEventListener('click', () => file.click())
  byId('timeline').addEventListener('click', timeline)
  byId('sequence-on').addEventListener('click', () => sequencing(!isSequencing()))
  byId('lanes-clear').addEventListener('click', () => {
    lanes.clear()
    draw()
  })
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
  for (const each of [logFilter, only, failures, ...TYPES.map((type) => field(`show-${type}`))]) each.addEventListener('input', draw)
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
      say(byId('status'), text)
    },
    tab,
    showsPlugins: () => shown === 'plugins',
    shownPlugin: () => (shown === 'plugins' ? plugin : undefined),
    toggleLane: () => void (selected !== undefined && toggleLane(selected)),
    visit(address) {
      lanes.clear()
      for (const lane of address.lanes.slice(0, LANES)) lanes.add(lane)
      selected = address.actor ?? selected
      plugin = address.plugin ?? plugin
      session = address.session ?? session
      sequencing(address.isSequence)
      tab(TABS.find((name) => name === address.tab) ?? 'actors')
    },
    refresh: askAnew,
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

function query(selector: string): HTMLElement {
  const element = document.querySelector(selector)
  if (!(element instanceof HTMLElement)) throw new Error(`the page has no ${selector}`)
  return element
}

function field(id: string): HTMLInputElement {
  const element = byId(id)
  if (!(element instanceof HTMLInputElement)) throw new Error(`#${id} is no field`)
  return element
}
