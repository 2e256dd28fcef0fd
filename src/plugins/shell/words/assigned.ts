/**
 * Which variables of the line certainly hold one of the values it gives them: an assignment that may not have run leaves
 * nothing, and `$x/etc` is then `/etc`. What is assigned in a part that may be skipped counts only inside that part.
 */
import type { Findings } from './findings.js'

const NOTHING: ReadonlySet<string> = new Set()

export function addAssigned(findings: Findings, name: string): void {
  findings.assigned = new Set([...findings.assigned, name])
}

export function dropAssigned(findings: Findings, name: string): void {
  findings.assigned = new Set([...findings.assigned].filter((known) => known !== name))
}

/** What every one of several ways assigns. */
export function inAll(ways: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set([...(ways[0] ?? NOTHING)].filter((name) => ways.every((way) => way.has(name))))
}

/** Walks a part after which only what was assigned before it counts. */
export async function within(findings: Findings, part: () => Promise<void>): Promise<void> {
  const before = findings.assigned
  await part()
  findings.assigned = before
}

/** Walks a part that finds none of the variables: another shell, or one that runs when others may have hidden them. */
export async function without(findings: Findings, part: () => Promise<void>): Promise<void> {
  const before = findings.assigned
  findings.assigned = NOTHING
  await part()
  findings.assigned = before
}
