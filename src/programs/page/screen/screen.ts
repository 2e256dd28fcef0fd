/** Everything that is seen: one drawing per animation frame, from the model alone. */
import type { InspectorRecord } from '../../../protocol/system/inspector.js'
import type { Address } from '../address.js'
import { chartView } from '../chart/chart-view.js'
import { byId, field, query, say } from '../elements.js'
import { pluginPage } from '../plugin-page.js'
import { bindControls, showAll } from './controls.js'
import { ask, askAnew, select, showActor, showRecord, showSession, tab, toggleLane, visit } from './moves.js'
import { render } from './render.js'
import type { Commands, Fields, Showing, Tab, Views } from '../showing.js'
import { logView } from '../views/log-view.js'
import { placeTable } from '../views/place-table.js'
import { pluginList } from '../views/plugin-list.js'
import { sequenceView } from '../views/sequence-view.js'
import { treeView } from '../views/tree-view.js'

export interface Screen {
  /** Asks for a drawing. */
  draw(): void
  /** Lights what these records changed. */
  happened(records: readonly InspectorRecord[]): void
  status(name: string, text: string): void
  tab(name: Tab): void
  showsPlugins(): boolean
  shows(name: Tab): boolean
  showActor(id: string): void
  showSession(id: string): void
  /** Key of the plugin whose page is open. */
  shownPlugin(): string | undefined
  /** Puts the selected actor into the sequence diagram, or takes it out. */
  toggleLane(): void
  /** Shows what an address leads to, but for its moment. */
  visit(address: Address): void
  /** Asks anew for what no record tells of. */
  refresh(): void
}

export function createScreen(commands: Commands): Screen {
  const fields: Fields = {
    filter: field('filter'),
    logFilter: field('log-filter'),
    position: field('position'),
    file: field('file'),
    only: field('only'),
    failures: field('failures'),
    pause: byId('pause'),
  }
  const draw = oncePerFrame(() => render(showing, commands.model()))
  const showing: Showing = {
    commands,
    draw,
    fields,
    views: viewsOf(commands, fields.filter, () => showing),
    lanes: new Set(),
    selected: undefined,
    shown: 'actors',
    lit: [],
    plugin: undefined,
    session: undefined,
    chosen: undefined,
    record: undefined,
    drawnRecord: '',
    fragment: '',
  }
  bindControls(showing)
  return {
    draw,
    happened(records) {
      showing.lit = [...showing.lit, ...records].slice(-200)
    },
    status,
    tab: (name) => tab(showing, name),
    showsPlugins: () => showing.shown === 'plugins',
    shows: (name) => showing.shown === name,
    showActor: (id) => showActor(showing, id),
    showSession: (id) => showSession(showing, id),
    shownPlugin: () => (showing.shown === 'plugins' ? showing.plugin : undefined),
    toggleLane: () => void (showing.selected !== undefined && toggleLane(showing, showing.selected)),
    visit: (address) => visit(showing, address),
    refresh: () => askAnew(showing),
  }
}

function viewsOf(commands: Commands, filter: HTMLInputElement, showing: () => Showing): Views {
  const go = (index: number) => commands.go(index + 1)
  return {
    tree: treeView(byId('tree'), filter, {
      select: (id) => select(showing(), id),
      toggleLane: (id) => toggleLane(showing(), id),
      draw: () => showing().draw(),
    }),
    chart: chartView(byId('chart'), byId('caption'), byId('details')),
    log: logView(byId('log'), { select: ({ sequence }) => showRecord(showing(), sequence), go, showAll: () => showAll(showing()) }),
    sequence: sequenceView(byId('heads'), byId('steps'), go),
    plugins: pluginList(byId('plugin-own'), query('#plugin-built-in > div'), query('#plugin-built-in > summary'), (key) => {
      showing().plugin = key
      ask(showing())
    }),
    page: pluginPage(() => ({ act: commands.actOnPlugin(), showActor: (id) => showActor(showing(), id) })),
    tables: {
      workflows: [
        placeTable('workflow', field('workspace'), {
          read: commands.workflows,
          none: 'There are no workflows here: svc workflow init writes one, and so does a file in .svc/workflows.',
        }),
      ],
      programs: [
        placeTable('program', field('program-place'), { read: commands.programs, none: 'No program loads code of this workspace.' }),
      ],
      requests: [
        placeTable('request', undefined, { read: commands.requests, none: 'Nothing waits for an answer.' }),
        placeTable('remembered', field('remembered-place'), {
          read: commands.remembered,
          none: 'No answer is remembered here: one is, where somebody answers "always".',
        }),
      ],
    },
  }
}

/** However often it is asked for. */
function oncePerFrame(run: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      run()
    })
  }
}

function status(name: string, text: string): void {
  byId('status').className = name
  // A trace does not go on, and is saved already.
  for (const id of ['pause', 'save']) byId(id).toggleAttribute('disabled', name === 'trace' || name === 'idle')
  say(byId('status'), text)
}
