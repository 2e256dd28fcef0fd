/** "Did you mean": the name that was probably meant. Pure. */

/** Undefined when nothing is near: more than a third of the letters would have to change. A name that begins with what was typed is near. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const scored = names
    .map((name) => ({ name, changes: name.startsWith(typed) && typed.length > 1 ? 0.5 : changes(typed, name) }))
    .filter(({ name, changes: count }) => count <= Math.max(1, Math.floor(Math.max(name.length, typed.length) / 3)))
  return scored.toSorted((a, b) => a.changes - b.changes)[0]?.name
}

const LONGEST = 64

/** Letters inserted, removed, replaced, or two exchanged (optimal string alignment). */
function changes(from: string, to: string): number {
  if (from.length > LONGEST || to.length > LONGEST) return LONGEST
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      const least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1))
      const isExchange = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      next.push(isExchange ? Math.min(least, (before[j - 2] ?? 0) + 1) : least)
    }
    before = row
    row = next
  }
  return row[to.length] ?? 0
}
