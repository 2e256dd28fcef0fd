/** The order of texts by their UTF-16 units: the same everywhere, whatever language a machine speaks. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** How many items are sorted at once. */
const RUN = 2048

export type Turn = () => Promise<void> | undefined

/** Sorts a long list in parts; `turn` is waited for between them. Equal items keep their order. */
export async function sortInTurns<T extends object>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  turn: Turn,
): Promise<readonly T[]> {
  let runs: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += RUN) {
    runs.push(items.slice(at, at + RUN).toSorted(compare))
    await turn()
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = []
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], { compare, turn }))
    runs = merged
  }
  return runs[0] ?? []
}

interface Merging<T> {
  readonly compare: (a: T, b: T) => number
  readonly turn: Turn
}

async function merge<T extends object>(left: readonly T[], right: readonly T[], { compare, turn }: Merging<T>): Promise<readonly T[]> {
  const merged: T[] = []
  let at = 0
  for (const item of right) {
    for (let next = left[at]; next !== undefined && compare(next, item) <= 0; next = left[++at]) merged.push(next)
    merged.push(item)
    if (merged.length % RUN === 0) await turn()
  }
  return merged.concat(left.slice(at))
}
