/** The page of the inspector: a server that is looked at, or a saved trace. */
import type { InspectedPlugin, InspectorRecord } from '../../protocol/system/inspector.js'
import { type Moment, readAddress } from './address.js'
import { confirmed } from './confirm.js'
import { connect, type Connection, type Status } from './connection.js'
import { button, byId, h, local, say } from './elements.js'
import { bindKeys } from './keys.js'
import type { Move } from './plugin-moves.js'
import { markBeside } from './marks.js'
import { createModel, type Model, modelOf, moveTo, readTrace, receive, resync } from './model.js'
import { after, every, now as time } from './platform.js'
import { pluginActions } from './plugin-actions.js'
import { programRows } from './views/programs-view.js'
import { createScreen, type Screen } from './screen/screen.js'
import { explanation, rememberedRows } from './views/remembered-view.js'
import { requestRows } from './views/requests-view.js'
import { sessionButtons, sessionHead, sessionTurns } from './views/sessions-view.js'
import { type OnAct, workflowRows } from './views/workflows-view.js'

const RESYNC = 5000
const RESYNC_PLUGINS = 1000
const AGES = 1000

const STATUS: Readonly<Record<Status, string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'connection lost, trying again',
  token: 'a token is needed',
  off: 'the inspector is off here',
}

let model: Model = createModel()
let connection: Connection | undefined
let isLive = false
let lastSync = 0
let wantsMachines = false
/** Directory of the configuration of the installation, and the last record of the picture, as far as the server has told. */
let configuration: string | undefined
let synced: number | undefined
/** The moment an address leads to, until it was found. */
let wanted: Moment | undefined
/** When the trace that is shown was saved. */
let savedAt: number | undefined

/** What a click in a table has come to; the table shows what is there then. */
const acted: OnAct = {
  changed() {
    tell(undefined)
    screen.refresh()
  },
  failed(error) {
    tell(error)
    screen.refresh()
  },
}

const screen: Screen = createScreen({
  model: () => model,
  pause,
  step: (by) => go(model.position + by),
  mark: (by) => go(markBeside(model, by) ?? model.position),
  go,
  present: () => (isLive ? pause(false) : go(model.records.length)),
  save: () => void save().catch(tell),
  load: (text) => open(text),
  workflows: async (directory) => workflowRows(server('workflows'), directory, { showSession }, acted),
  programs: async (directory) => programRows(server('programs'), directory, acted),
  requests: async () => requestRows(server('requests'), { showSession }, acted),
  remembered: async (directory) => rememberedRows(server('answers'), directory, { showSession }, acted),
  explain: async (directory, command) => explanation(server('rules'), directory, command),
  async sessions(chosen, show) {
    const from = server('sessions')
    const [list, head, turns] = await Promise.all([
      sessionButtons(from, chosen, show),
      chosen === undefined ? [] : sessionHead(from, chosen, screen.showActor),
      chosen === undefined ? [] : sessionTurns(from, chosen),
    ])
    return { list, head, turns }
  },
  actOnPlugin: () =>
    connection === undefined || configuration === undefined ? undefined : (plugin, act) => void actOn(plugin, act).catch(tell),
  wanted: () => void sync().catch(() => undefined),
  moved: (fragment) => {
    if (wanted === undefined && location.hash !== fragment) history.replaceState(null, '', fragment)
  },
  now,
})
bindKeys(screen)

/** Who is asked for what no record tells of; throws where there is only a trace. */
function server(wanted: string): Connection {
  if (connection === undefined) throw new Error(`A trace holds no ${wanted}.`)
  return connection
}

function showSession(id: string): void {
  screen.showSession(id)
}

/** Time of the picture: that of the last record while the past is looked at. */
function now(): number {
  return isLive && !model.isPaused ? time() : (model.records[model.position - 1]?.at ?? model.records[0]?.at ?? savedAt ?? time())
}

function pause(isPaused: boolean): void {
  if (!isLive) return
  model.isPaused = isPaused
  if (!isPaused) moveTo(model, model.records.length)
  screen.draw()
}

function go(position: number): void {
  if (isLive) model.isPaused = true
  const before = model.position
  moveTo(model, position)
  if (model.position === before + 1) screen.happened(model.records.slice(before, model.position))
  screen.draw()
}

async function sync(): Promise<void> {
  if (connection === undefined) return
  lastSync = time()
  if (wantsMachines || model.machines.size === 0) {
    wantsMachines = false
    for (const machine of await connection.machines()) model.machines.set(machine.id, machine)
  }
  const tree = await connection.tree()
  resync(model, tree)
  configuration = tree.configuration
  synced = tree.sequence
  const plugin = screen.shownPlugin()
  if (plugin !== undefined) {
    model.lines.clear()
    model.lines.set(plugin, await connection.lines(plugin))
  }
  find()
  screen.refresh()
  screen.draw()
}

async function actOn(plugin: InspectedPlugin, act: NonNullable<Move['act']>): Promise<void> {
  if (connection === undefined || configuration === undefined || !(await confirmed(plugin, act))) return
  tell(undefined)
  try {
    await pluginActions(connection, configuration).act(plugin, act)
  } finally {
    await sync()
  }
}

/** Goes to the moment an address leads to, once everything up to the present has come. */
function find(): void {
  if (wanted === undefined || (isLive && (synced === undefined || (model.records.at(-1)?.sequence ?? 0) < synced))) return
  const { sequence, time: at } = wanted
  wanted = undefined
  const index = model.records.findIndex((record) => record.sequence === sequence && record.at === at)
  if (index === -1) tell(new Error('The moment of this address is not held any more.'))
  else go(index + 1)
}

function visit(): void {
  const address = readAddress(location.hash)
  wanted = address.at
  screen.visit(address)
  if (address.at === undefined && isLive) pause(false)
  find()
}

function tell(error: unknown): void {
  const message = byId('message')
  message.hidden = error === undefined
  say(message, error instanceof Error ? error.message : String(error))
  if (error !== undefined)
    message.append(
      ' ',
      button('Close', 'Close', () => tell(undefined)),
    )
}

function watch(): void {
  isLive = true
  visit()
  connection = connect(
    {
      onStatus(status, reason) {
        screen.status(status, STATUS[status])
        // Who may not look may have another token that may.
        const asks = status === 'token' || (status === 'off' && reason !== undefined)
        byId('credential').hidden = !asks
        if (asks) byId('token').focus()
        if (reason !== undefined) tell(new Error(reason))
      },
      onOpen: () => void sync().catch(tell),
      onFrame({ records, dropped }) {
        const isFollowing = !model.isPaused
        receive(model, records, dropped)
        const unknown = records.some(({ actor }) => actor?.machine !== undefined && !model.machines.has(actor.machine))
        if (unknown) {
          wantsMachines = true
          void sync().catch(tell)
        }
        find()
        if (isFollowing) screen.happened(records)
        if (screen.showsPlugins() && records.some(concernsPlugins)) void sync().catch(() => undefined)
        if (screen.shows('requests') && records.some(concernsRequests)) screen.refresh()
        screen.draw()
      },
    },
    wanted === undefined ? undefined : 0,
  )
  byId('credential').addEventListener('submit', (event) => {
    event.preventDefault()
    tell(undefined)
    const field = byId('token')
    if (field instanceof HTMLInputElement) connection?.authenticate(field.value)
  })
  every(AGES, () => {
    const due = screen.showsPlugins() ? RESYNC_PLUGINS : RESYNC
    if (byId('status').className === 'live' && time() - lastSync >= due) void sync().catch(() => undefined)
    else screen.draw()
  })
}

function concernsPlugins({ actorId, type }: InspectorRecord): boolean {
  return type !== 'event' && actorId.startsWith('package:')
}

function concernsRequests({ actorId, type }: InspectorRecord): boolean {
  return type !== 'event' && actorId.startsWith('interaction:')
}

async function save(): Promise<void> {
  if (connection === undefined) throw new Error('This is a saved trace already.')
  const url = URL.createObjectURL(new Blob([await connection.text('/v2/inspector/trace')], { type: 'application/json' }))
  const link = h('a', { href: url, download: `svc-trace-${new Date(time()).toISOString().replaceAll(':', '-').slice(0, 19)}.json` })
  link.click()
  after(RESYNC, () => URL.revokeObjectURL(url))
}

/** Shows a saved trace; a live server is left behind. */
function open(text: string): void {
  try {
    const trace = readTrace(text)
    if (connection !== undefined) connection.close()
    connection = undefined
    isLive = false
    model = modelOf(trace)
    savedAt = trace.createdAt
    screen.status('trace', `trace of ${local(trace.createdAt)}, svc ${trace.serverVersion}`)
    tell(undefined)
    visit()
    screen.draw()
  } catch (error) {
    tell(error)
  }
}

window.addEventListener('hashchange', visit)
const embedded = document.getElementById('trace')?.textContent
if (embedded) open(embedded)
else if (location.protocol === 'file:') screen.status('idle', 'open a saved trace')
else watch()
