/**
 * In which order plugins come that depend on each other: depth first over sorted ids, dependencies first (plugin-protocol §3.4). Pure.
 *
 * I1 Nobody is left out for what it depends on: what is missing is told, and a circle is cut where it closes.
 */
export interface Dependent {
  readonly id: string
  readonly dependencies: readonly string[]
}

export interface StartOrder {
  /** Every id once, each after what it waits for. */
  readonly order: readonly string[]
  /** What an id waits for: dependencies that are there, without those that would close a circle. */
  waitsFor(id: string): readonly string[]
  /** Dependencies that depend on it in turn, or are itself, and for which it does not wait. */
  circles(id: string): readonly string[]
  missing(id: string): readonly string[]
}

/** What shares an id is one. */
export function startOrder(list: readonly Dependent[]): StartOrder {
  const wanted = new Map<string, Set<string>>()
  for (const { id, dependencies } of list) wanted.set(id, new Set([...(wanted.get(id) ?? []), ...dependencies]))
  const placed = new Map<string, { readonly waitsFor: string[]; readonly circles: string[] }>()
  const open = new Set<string>()

  function place(id: string): void {
    if (placed.has(id)) return
    open.add(id)
    const waitsFor: string[] = []
    const circles: string[] = []
    for (const other of presentOf(id)) {
      if (open.has(other)) circles.push(other)
      else {
        place(other)
        waitsFor.push(other)
      }
    }
    open.delete(id)
    placed.set(id, { waitsFor, circles })
  }

  const presentOf = (id: string) => [...(wanted.get(id) ?? [])].filter((other) => wanted.has(other)).toSorted()
  for (const id of [...wanted.keys()].toSorted()) place(id)
  return {
    order: [...placed.keys()],
    waitsFor: (id) => placed.get(id)?.waitsFor ?? [],
    circles: (id) => placed.get(id)?.circles ?? [],
    missing: (id) => [...(wanted.get(id) ?? [])].filter((other) => !wanted.has(other)).toSorted(),
  }
}
