/** What of a chart is lit: where the actor is, what can happen from there, and what happened last. */
import type { InspectedMachine, InspectorRecord } from '../../../protocol/system/inspector.js'
import { allStates, type Arrow, isInside } from './graph.js'

export interface Marks {
  /** Paths of the active states and of all that hold them. */
  readonly active: ReadonlySet<string>
  /** Arrows that can be taken from here, by what `arrowKey` calls them. */
  readonly near: ReadonlySet<string>
  /** States that are active or that an arrow leads to from here. */
  readonly reachable: ReadonlySet<string>
}

export function arrowKey({ from, to }: Pick<Arrow, 'from' | 'to'>): string {
  return `${from}→${to}`
}

export function marksOf(machine: InspectedMachine, arrows: readonly Arrow[], state: readonly string[]): Marks {
  const near = new Set<string>()
  const targets: string[] = []
  for (const arrow of arrows) {
    const possible = arrow.ways.filter(({ source }) => holds(state, source))
    if (possible.length === 0) continue
    near.add(arrowKey(arrow)).add(arrow.from)
    targets.push(arrow.to, ...possible.map(({ target }) => target))
  }
  const paths = [...allStates(machine.root)].map(({ path }) => path)
  const active = new Set(paths.filter((path) => holds(state, path)))
  const leadsTo = (path: string) => targets.some((target) => target === path || isInside(target, path))
  return { active, near, reachable: new Set(paths.filter((path) => active.has(path) || leadsTo(path))) }
}

/** The arrows a transition took: of those that fit, the ones that begin innermost. */
export function takenBy(arrows: readonly Arrow[], { before = [], after = [] }: InspectorRecord): Set<string> {
  const fitting = arrows.flatMap((arrow) =>
    arrow.ways
      .filter(({ source, target }) => holds(before, source) && holds(after, target) && !holds(before, target))
      .map(({ source }) => ({ arrow, depth: source === '' ? 0 : source.split('.').length })),
  )
  const innermost = Math.max(...fitting.map(({ depth }) => depth))
  return new Set(fitting.filter(({ depth }) => depth === innermost).map(({ arrow }) => arrowKey(arrow)))
}

/** Whether a state is among these or holds one of them; '' is the machine. */
export function holds(state: readonly string[], path: string): boolean {
  return path === '' || state.some((each) => each === path || isInside(each, path))
}
