/** What a person does to what is shown. */
import type { Address } from '../address.js'
import { byId, say } from '../elements.js'
import { after } from '../platform.js'
import { LANES } from '../sequence.js'
import { type Showing, type Tab, TABS } from '../showing.js'

/** Longer than the time between two clicks, ms. */
const OPENING = 300

export function select(showing: Showing, id: string): void {
  showing.selected = id
  showing.draw()
}

/** A pane that opens moves the rows: not between the clicks of a double one. */
export function showRecord(showing: Showing, sequence: number | undefined): void {
  showing.chosen = sequence
  const open = () => {
    showing.record = showing.chosen
    showing.draw()
  }
  if (showing.record !== undefined || sequence === undefined) return open()
  showing.draw()
  after(OPENING, open)
}

/** What only the server knows of what is shown is asked for at once. */
export function ask(showing: Showing): void {
  showing.commands.wanted()
  showing.draw()
}

export function toggleLane(showing: Showing, id: string): void {
  if (!showing.lanes.delete(id) && showing.lanes.size < LANES) showing.lanes.add(id)
  sequencing(showing, true)
}

export function sequencing(showing: Showing, isOn: boolean): void {
  byId('right').classList.toggle('sequencing', isOn)
  byId('sequence').hidden = !isOn
  byId('happened').hidden = isOn
  byId('sequence-on').setAttribute('aria-pressed', String(isOn))
  showing.draw()
}

export function isSequencing(): boolean {
  return !byId('sequence').hidden
}

export function showActor(showing: Showing, id: string): void {
  showing.fields.filter.value = ''
  tab(showing, 'actors')
  select(showing, id)
}

export function tab(showing: Showing, name: Tab): void {
  showing.shown = name
  for (const each of TABS) {
    byId(each).hidden = each !== name
    byId(`tab-${each}`).setAttribute('aria-selected', String(each === name))
  }
  askAnew(showing)
  if (name === 'plugins') showing.commands.wanted()
  showing.draw()
}

export function askAnew(showing: Showing): void {
  for (const table of showing.views.tables[showing.shown] ?? []) void table.show()
  if (showing.shown === 'sessions') void showSessions(showing)
}

/** The turns of a session. */
export function showSession(showing: Showing, id: string): void {
  showing.session = id
  tab(showing, 'sessions')
}

/** The session an actor belongs to, with all that happened to it. */
export function timeline(showing: Showing): void {
  const session = showing.selected?.split('/').find((part) => part.startsWith('session:'))
  if (session === undefined) return
  showing.fields.only.checked = true
  select(showing, session)
}

async function showSessions(showing: Showing): Promise<void> {
  const note = byId('session-note')
  // The session somebody looks at in the tree is the one that is meant.
  showing.session ??= showing.selected?.match(/session:(ses_\w+)/)?.[1]
  try {
    const asked = showing.session
    const { list, head, turns } = await showing.commands.sessions(asked, (id) => {
      showing.session = id
      void showSessions(showing)
    })
    if (asked !== showing.session) return
    exchange(byId('session-list'), list)
    exchange(byId('session-head'), head)
    byId('session-turns').replaceChildren(...turns)
    if (showing.session === undefined && list[0] !== undefined) {
      showing.session = list[0].dataset['session']
      if (showing.session !== undefined) return await showSessions(showing)
    }
    note.textContent = 'There are no sessions here.'
    note.hidden = turns.length > 0
  } catch (error) {
    byId('session-head').replaceChildren()
    byId('session-turns').replaceChildren()
    note.hidden = false
    say(note, error instanceof Error ? error.message : String(error))
  }
  showing.draw()
}

/** What would look the same is left alone, and so is what is being pressed. */
function exchange(element: HTMLElement, next: readonly HTMLElement[]): void {
  if (element.matches(':active') || next.map(({ outerHTML }) => outerHTML).join('') === element.innerHTML) return
  const { activeElement } = document
  const focused = activeElement instanceof HTMLElement && element.contains(activeElement) ? activeElement.dataset['session'] : undefined
  element.replaceChildren(...next)
  if (focused !== undefined) next.find(({ dataset }) => dataset['session'] === focused)?.focus()
}

/** Shows what an address leads to, but for its moment. */
export function visit(showing: Showing, address: Address): void {
  const { lanes } = showing
  lanes.clear()
  for (const lane of address.lanes.slice(0, LANES)) lanes.add(lane)
  showing.selected = address.actor ?? showing.selected
  showing.plugin = address.plugin ?? showing.plugin
  showing.session = address.session ?? showing.session
  sequencing(showing, address.isSequence)
  tab(showing, TABS.find((name) => name === address.tab) ?? 'actors')
}
