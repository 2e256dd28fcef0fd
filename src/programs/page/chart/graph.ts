/** A state chart as boxes and arrows: transitions that go the same way are one arrow. */
import type { InspectedMachine, InspectedState, InspectedTransition } from '../../../protocol/system/inspector.js'
import { duration } from './measures.js'

export interface Arrow {
  /** Path of the state that both ends lie in, side by side. */
  readonly box: string
  /** Paths of the ends; the first is `anyOf` the box when the box itself leads to a state in it. */
  readonly from: string
  readonly to: string
  /** Names of events, one a line. */
  readonly labels: readonly string[]
  /** Every transition in full, one per line. */
  readonly title: string
  /** Transitions that go this way. */
  readonly ways: readonly { readonly source: string; readonly target: string; readonly event: string }[]
}

const LINES = 3
const LINE = 48

export function arrowsOf({ root }: InspectedMachine): Arrow[] {
  const found = new Map<
    string,
    Omit<Arrow, 'labels' | 'title'> & { labels: Set<string>; titles: string[]; ways: Arrow['ways'][number][] }
  >()
  for (const { path, transitions } of allStates(root)) {
    for (const transition of transitions) {
      for (const target of transition.targets ?? []) {
        const box = meeting(path, target)
        const [from, to] = [path === box ? anyOf(box) : childHolding(box, path), childHolding(box, target)]
        const key = `${from}\n${to}`
        const arrow = found.get(key) ?? { box, from, to, labels: new Set(), titles: [], ways: [] }
        found.set(key, arrow)
        arrow.ways.push({ source: path, target, event: transition.event })
        const event = guarded(transition)
        arrow.labels.add(entersAt(root, to, target) ? event : `${event} → ${target.slice(target.lastIndexOf('.') + 1)}`)
        arrow.titles.push(sentence(path, transition, target))
      }
    }
  }
  return [...found.values()]
    .filter(({ from, to }) => from !== to)
    .map(({ labels, titles, ...arrow }) => ({
      ...arrow,
      // Where there is no room for all of them, the events are told without their guards and where they lead.
      labels: shorten(labels.size <= LINES ? [...labels] : [...new Set(arrow.ways.map(({ event }) => event))]),
      title: titles.join('\n'),
    }))
}

/** An event, and what has to be so for it to count. */
function guarded({ event, guard }: InspectedTransition): string {
  return guard === undefined ? event : `${event} [${guard}]`
}

/** What the states of a chart do, in words. */
export function sentence(source: string, { event, guard, actions, delay }: InspectedTransition, target: string | undefined): string {
  const condition = guard === undefined ? '' : ` [${guard}]`
  const wait = delay === undefined ? '' : ` (${duration(delay)})`
  const does = actions.length === 0 ? '' : ` / ${actions.join(', ')}`
  return `${source || 'any state'}: ${event}${wait}${condition}${target === undefined ? '' : ` → ${target}`}${does}`
}

/** Stands inside a state for whichever of its states is active. */
function anyOf(path: string): string {
  return `${path}/*`
}

/** Every state, outermost first. */
export function* allStates(state: InspectedState): Generator<InspectedState> {
  yield state
  for (const child of state.states) yield* allStates(child)
}

/** Whether the state at a path is inside that at another; '' is the machine. */
export function isInside(path: string, box: string): boolean {
  return box === '' ? path !== '' : path.startsWith(`${box}.`)
}

/** Length of the delay that ends a state, when the chart knows it. */
export function delayOf(machine: InspectedMachine, paths: readonly string[]): number | undefined {
  for (const state of allStates(machine.root)) {
    if (!paths.includes(state.path)) continue
    const delays = state.transitions.flatMap(({ delay, targets }) => (delay === undefined || targets === undefined ? [] : [delay]))
    if (delays.length > 0) return Math.min(...delays)
  }
  return undefined
}

/** The innermost state that has both inside; '' is the machine. */
function meeting(source: string, target: string): string {
  const [a, b] = [source.split('.'), target.split('.')]
  const shared = a.findIndex((key, index) => key !== b[index])
  const keys = a.slice(0, shared === -1 ? a.length : shared)
  return (source === target ? keys.slice(0, -1) : keys).join('.')
}

/** The child of a state that is the one at `path` or has it inside. */
function childHolding(box: string, path: string): string {
  const depth = box === '' ? 1 : box.split('.').length + 1
  return path.split('.').slice(0, depth).join('.')
}

/** Whether who enters the state `to` gets to `target`, being its initial state. */
function entersAt(root: InspectedState, to: string, target: string): boolean {
  const state = [...allStates(root)].find(({ path }) => path === to)
  return to === target || (state?.initial !== undefined && entersAt(root, `${to}.${state.initial}`, target))
}

function shorten(labels: readonly string[]): string[] {
  const fits = labels.length <= LINES ? labels : [...labels.slice(0, LINES - 1), `and ${labels.length - LINES + 1} more`]
  return fits.map((label) => (label.length > LINE ? `${label.slice(0, LINE - 1)}…` : label))
}
