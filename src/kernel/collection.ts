/**
 * Values that are rows, and what is kept of them in memory.
 *
 * I1 Memory follows the rows: it changes once a commit was made, and never without one. Within a commit it is as it was before.
 * I2 A row is parsed before it is believed; one that cannot be is a fault, named by its kind and id.
 * I3 Where values end, those that are open have a mark beside their row: they alone are in memory, and a start reads no others.
 */

/** What a row says beside its value: the group it is listed by, '' for none, and where it stands in it. */
interface Place {
  readonly id: string
  readonly group: string
  readonly sort: number
}

interface Row extends Place {
  readonly data: unknown
}

interface Query {
  readonly group?: string
  readonly order?: 'asc' | 'desc'
  readonly limit?: number
}

interface Rows {
  get(kind: string, id: string): Row | undefined
  /** By `sort`, then id. */
  list(kind: string, query?: Query): readonly Row[]
  /** Calls `gone` with each row of the kind that went with what it was of, once that is committed. */
  parting(kind: string, gone: (id: string) => void): void
}

/** A commit that is being made. */
interface Change {
  /** Without effect when the id is taken. */
  insert(kind: string, row: Row): boolean
  put(kind: string, row: Row): void
  delete(kind: string, id: string): void
  /** Runs once it was made. */
  after(run: () => void): void
}

export interface Collection<T> {
  get(id: string): T | undefined
  /** Every value; where values end, also those that have. */
  all(): readonly T[]
  /** That have not ended, in the order in which they were opened. */
  open(): readonly T[]
  /** Of a group, by `sort`; of the rows, so that a commit sees what it has written. */
  of(group: string, query?: Omit<Query, 'group'>): readonly T[]
  put(tx: Change, value: T): void
  delete(tx: Change, id: string): void
}

interface CollectionOptions<T> {
  readonly kind: string
  /** Throws for what is no value. */
  parse(data: unknown): T
  row(value: T): Place
  /** Where values end; without it every value is in memory. */
  readonly open?: {
    /** Of the marks. */
    readonly kind: string
    is(value: T): boolean
    /** Where the mark stands, when that is not where the row does. */
    sort?(value: T): number
  }
}

export function collection<T>(rows: Rows, { kind, parse, row, open }: CollectionOptions<T>): Collection<T> {
  const valueOf = ({ id, data }: Row): T => {
    try {
      return parse(data)
    } catch (cause) {
      throw new Error(`the row of the ${kind} "${id}" cannot be read`, { cause }) // I2
    }
  }
  const read = (id: string) => {
    const found = rows.get(kind, id)
    return found === undefined ? [] : [valueOf(found)]
  }
  const isKept = (value: T) => open === undefined || open.is(value)
  const first = open === undefined ? rows.list(kind).map(valueOf) : rows.list(open.kind).flatMap(({ id }) => read(id)) // I3
  const kept = new Map(first.map((value) => [row(value).id, value]))
  rows.parting(kind, (id) => void kept.delete(id)) // I1

  function mark(tx: Change, value: T): void {
    if (open === undefined) return
    const place = row(value)
    if (open.is(value)) tx.insert(open.kind, { ...place, sort: open.sort?.(value) ?? place.sort, data: null })
    else tx.delete(open.kind, place.id)
  }

  return {
    get: (id) => kept.get(id) ?? (open === undefined ? undefined : read(id)[0]),
    all: () => (open === undefined ? [...kept.values()] : rows.list(kind).map(valueOf)),
    open: () => [...kept.values()],
    of: (group, query) => rows.list(kind, { ...query, group }).map(valueOf),
    put(tx, value) {
      const place = row(value)
      tx.put(kind, { ...place, data: value })
      mark(tx, value)
      tx.after(() => void (isKept(value) ? kept.set(place.id, value) : kept.delete(place.id))) // I1
    },
    delete(tx, id) {
      tx.delete(kind, id)
      if (open !== undefined) tx.delete(open.kind, id)
      tx.after(() => void kept.delete(id))
    },
  }
}
