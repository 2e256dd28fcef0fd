/** The sorted ids of git's binary files, with the counts by first byte (the fan-out) that narrow the search. Pure. */
export interface IdTable {
  readonly data: Buffer
  /** Where the counts begin. */
  readonly fanout: number
  /** Where the ids begin. */
  readonly names: number
  readonly count: number
}

/** The position of an id among them. */
export function positionOf({ data, fanout, names, count }: IdTable, wanted: Buffer, idBytes: number): number | undefined {
  const first = wanted[0] ?? 0
  let low = first === 0 ? 0 : data.readUInt32BE(fanout + (first - 1) * 4)
  let high = Math.min(data.readUInt32BE(fanout + first * 4), count)
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = names + middle * idBytes
    const order = data.compare(wanted, 0, idBytes, at, at + idBytes)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return undefined
}
