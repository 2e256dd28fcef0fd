/** The supervision tree: one line per live actor, moved in with the keyboard. */
import type { InspectedActor } from '../../../protocol/system/inspector.js'
import { h } from '../elements.js'
import { duration } from '../chart/measures.js'
import { nameOf, placeName, placeOf } from '../names.js'
import { BUILT_INS, type TreeRow, treeRows } from './rows.js'
import { virtualList } from './virtual-list.js'

export interface TreeView {
  /** Draws the actors as they are at `now`. */
  update(actors: Iterable<InspectedActor>, selected: string | undefined, lanes: ReadonlySet<string>, now: number): void
}

const ROW = 24

export interface TreeCommands {
  select(id: string): void
  /** Puts an actor into the sequence diagram, or takes it out. */
  toggleLane(id: string): void
  draw(): void
}

export function treeView(element: HTMLElement, filter: HTMLInputElement, on: TreeCommands): TreeView {
  const closed = new Set([BUILT_INS.id])
  let lanes: ReadonlySet<string> = new Set()
  let rows: TreeRow[] = []
  let selected: string | undefined
  let now = 0
  const list = virtualList(element, ROW, (index) => draw(rows[index], index))

  function draw(row: TreeRow | undefined, index: number): HTMLElement {
    if (row === undefined) return h('div')
    const { actor, depth, hasChildren, isOpen } = row
    const place = placeOf(actor)
    const isLane = lanes.has(actor.id)
    // A path in full would leave no room for the name.
    const state = actor.state.map((path) => path.slice(path.lastIndexOf('.') + 1)).join(', ')
    const line = h(
      'div',
      {
        class: `row kind-${actor.kind === 'effect' ? 'effect' : 'actor'}`,
        role: 'treeitem',
        id: `actor-${index}`,
        'aria-level': depth + 1,
        'aria-selected': String(actor.id === selected),
        'aria-expanded': hasChildren ? String(isOpen) : undefined,
        'data-actor': actor.id,
        title: actor.id,
      },
      h('span', { class: 'twist' }, hasChildren ? (isOpen ? '▾' : '▸') : ''),
      h('span', { class: 'name' }, nameOf(actor)),
      place !== undefined && h('span', { class: 'place' }, placeName(place)),
      state !== '' && h('span', { class: 'state', title: actor.state.join(', ') }, state),
      actor.restarts > 0 && h('span', { class: 'restarts', title: 'starts after a crash' }, `↻${actor.restarts}`),
      actor.kind !== BUILT_INS.kind && h('span', { class: `lane${isLane ? ' chosen' : ''}`, title: 'In the sequence diagram (x)' }, '⇄'),
      h('span', { class: 'age' }, actor.startedAt === undefined ? '' : duration(Math.max(0, now - actor.startedAt))),
    )
    line.style.paddingLeft = `${depth * 14 + 4}px`
    line.addEventListener('click', (event) => {
      const hits = (name: string) => event.target instanceof Element && event.target.classList.contains(name)
      if (hasChildren && (hits('twist') || actor.kind === BUILT_INS.kind)) toggle(actor.id, !isOpen)
      else if (hits('lane')) on.toggleLane(actor.id)
      else on.select(actor.id)
    })
    return line
  }

  function toggle(id: string, open: boolean): void {
    if (open) closed.delete(id)
    else closed.add(id)
    on.draw()
  }

  function go(index: number): void {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))]
    if (row === undefined) return
    list.reveal(rows.indexOf(row))
    on.select(row.actor.id)
  }

  function onKey(event: KeyboardEvent): void {
    const index = rows.findIndex(({ actor }) => actor.id === selected)
    const row = rows[index]
    const page = Math.max(1, Math.floor(element.clientHeight / ROW) - 1)
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(index + 1),
      ArrowUp: () => go(index - 1),
      PageDown: () => go(index + page),
      PageUp: () => go(index - page),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => (row?.hasChildren === true && !row.isOpen ? toggle(row.actor.id, true) : go(index + 1)),
      ArrowLeft: () => (row?.hasChildren === true && row.isOpen ? toggle(row.actor.id, false) : up(row)),
    }
    const move = moves[event.key]
    if (move === undefined) return
    event.preventDefault()
    move()
  }

  function up(row: TreeRow | undefined): void {
    const index = row === undefined ? 0 : rows.indexOf(row)
    const above = rows.slice(0, index).findLastIndex(({ depth }) => row !== undefined && depth < row.depth)
    if (above !== -1) go(above)
  }

  element.addEventListener('keydown', onKey)
  filter.addEventListener('input', () => on.draw())
  filter.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'Enter') element.focus()
  })
  return {
    update(actors, selection, chosen, at) {
      lanes = chosen
      rows = treeRows(actors, closed, filter.value)
      selected = selection
      now = at
      list.update(rows.length)
      const index = rows.findIndex(({ actor }) => actor.id === selected)
      if (index === -1) element.removeAttribute('aria-activedescendant')
      else element.setAttribute('aria-activedescendant', `actor-${index}`)
    },
  }
}
