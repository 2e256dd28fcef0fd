/** A state chart as boxes and arrows: transitions of one pair of states become one arrow, inside the box that holds both. */
import type { InspectedMachine, InspectedState, InspectedTransition } from '../../protocol/inspector.js'

export interface Arrow {
  /** Paths of two boxes that lie in the same box. */
  readonly from: string
  readonly to: string
  readonly label: string
  /** Every transition in full, one per line. */
  readonly title: string
  /** Events that go this way, with the states they begin and end in. */
  readonly ways: readonly { readonly source: string; readonly target: string; readonly event: string }[]
}

/** Stands for "whatever the state" inside a box. */
const ANY = '*'

const LABEL = 30

/** Arrows that join children of the box at `path`, by what is inside it. */
export function arrowsOf(box: InspectedState): Arrow[] {
  const found = new Map<string, { from: string; to: string; labels: string[]; titles: string[]; ways: Arrow['ways'][number][] }>()
  for (const [source, transition] of transitionsWithin(box)) {
    for (const target of transition.targets ?? []) {
      const from = source === box.path ? anyOf(box) : childHolding(box, source)
      const to = childHolding(box, target)
      if (from === undefined || to === undefined || from === to) continue
      const key = `${from}\n${to}`
      const arrow = found.get(key) ?? { from, to, labels: [], titles: [], ways: [] }
      found.set(key, arrow)
      arrow.ways.push({ source, target, event: transition.event })
      if (!arrow.labels.includes(transition.event)) arrow.labels.push(transition.event)
      arrow.titles.push(sentence(source, transition, target))
    }
  }
  return [...found.values()].map(({ labels, titles, ...arrow }) => ({ ...arrow, label: shorten(labels, titles), title: titles.join('\n') }))
}

/** What the states of a chart do, in words. */
export function sentence(source: string, { event, guard, actions, delay }: InspectedTransition, target: string | undefined): string {
  const condition = guard === undefined ? '' : ` [${guard}]`
  const wait = delay === undefined ? '' : ` (${duration(delay)})`
  const does = actions.length === 0 ? '' : ` / ${actions.join(', ')}`
  return `${source || 'any state'}: ${event}${wait}${condition}${target === undefined ? '' : ` → ${target}`}${does}`
}

export function anyOf(box: InspectedState): string {
  return `${box.path}/${ANY}`
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 120) return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`
  const minutes = seconds / 60
  if (minutes < 120) return `${Math.floor(minutes)} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60 / 24)} d`
}

export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

/** Every state, outermost first. */
export function* allStates(state: InspectedState): Generator<InspectedState> {
  yield state
  for (const child of state.states) yield* allStates(child)
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

function* transitionsWithin(box: InspectedState): Generator<[string, InspectedTransition]> {
  for (const state of allStates(box)) for (const transition of state.transitions) yield [state.path, transition]
}

/** The child of a box that is the state at `path` or holds it. */
function childHolding(box: InspectedState, path: string): string | undefined {
  return box.states.find((child) => path === child.path || path.startsWith(`${child.path}.`))?.path
}

function shorten(labels: readonly string[], titles: readonly string[]): string {
  const guarded = labels.length === 1 && titles.length === 1 ? (/ (\[[^\]]*\])/.exec(titles[0] ?? '')?.[0] ?? '') : ''
  const text = `${labels.join(', ')}${guarded}`
  return text.length > LABEL ? `${text.slice(0, LABEL - 1)}…` : text
}
