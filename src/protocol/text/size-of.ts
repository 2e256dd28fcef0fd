/** Roughly how many characters a JSON-like value is written with: told without writing it, which for a long text takes far longer. */
export function sizeOf(root: unknown): number {
  let size = 0
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    size += VALUE
    if (typeof value === 'string') size += value.length
    else if (Array.isArray(value)) for (const each of value) open.push(each)
    else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) {
        size += name.length
        open.push(each)
      }
  }
  return size
}

/** A number, and the signs around a value. */
const VALUE = 6
