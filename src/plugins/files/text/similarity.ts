/** Similarity of short texts, within a budget of work that its caller owns. */

const COMPARED = 1000
/** What comparing two texts costs beside the cells of the table. */
const PER_TEXT = 100

/** Units of work left; functions that would overdraw it give up instead. */
export interface Budget {
  left: number
}

/** True when `cost` could be paid. */
export function spend(budget: Budget, cost: number): boolean {
  budget.left -= cost
  return budget.left >= 0
}

/**
 * 1 for equal texts down to 0: one minus the Levenshtein distance over the longer length. Texts are compared by their
 * first 1000 characters. Undefined when the budget is used up; one unit is one cell of the distance table.
 */
export function similarity(left: string, right: string, budget: Budget): number | undefined {
  if (left === right) return 1
  const a = left.slice(0, COMPARED)
  const b = right.slice(0, COMPARED)
  const longest = Math.max(a.length, b.length)
  if (!spend(budget, a.length * b.length + PER_TEXT)) return undefined
  return longest === 0 ? 1 : 1 - distance(a, b) / longest
}

/** Levenshtein distance in UTF-16 units. */
export function distance(a: string, b: string): number {
  let previous = new Uint16Array(b.length + 1)
  let current = new Uint16Array(b.length + 1)
  for (let j = 0; j <= b.length; j++) previous[j] = j
  for (let i = 1; i <= a.length; i++) {
    current[0] = i
    const unit = a.charCodeAt(i - 1)
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (unit === b.charCodeAt(j - 1) ? 0 : 1)
      current[j] = Math.min(swap, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1)
    }
    ;[previous, current] = [current, previous]
  }
  return previous[b.length] ?? 0
}
