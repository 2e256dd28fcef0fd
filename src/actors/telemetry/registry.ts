/**
 * The numbers themselves. What is counted while somebody works is a number in a table; prom-client writes the table when it is asked for, and is
 * loaded with this when somebody asks for metrics first.
 */
import { type Metric as AnyMetric, Registry } from 'prom-client'
import { BUCKETS, METRICS, type Metric, type MetricName } from './metric-table.js'

type Writer = Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>
type Labels = Readonly<Record<string, string | number>>

export interface Meter {
  add(name: MetricName, labels: Labels, value?: number): void
  observe(name: MetricName, labels: Labels, seconds: number): void
  /** Of a counter as well, whose number comes from elsewhere. */
  set(name: MetricName, labels: Labels, value: number): void
  /** Values of a gauge, the earlier ones forgotten. */
  replace(name: MetricName, values: readonly (readonly [Labels, number])[]): void
  text(): Promise<string>
}

/** Of one set of labels. */
interface Cell {
  readonly labels: Record<string, string>
  /** The number, or the sum of what was observed. */
  value: number
  count: number
  /** How many were observed in each bucket, those of smaller ones not included; the last is for what is in none. */
  readonly buckets: number[]
}

interface Told {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** Where it is not the name of the metric. */
  readonly metricName?: string
}

/** Values that a label may have; what comes after them is told as `other`. */
const VALUES = 200
const OTHER = 'other'

export function createMeter(): Meter {
  const registry: Writer = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const tables = Object.fromEntries(
    Object.entries<Metric>(METRICS).map(([name, metric]) => {
      const cells = createCells(metric)
      register(name, metric, cells, registry)
      return [name, cells]
    }),
  ) as Record<MetricName, ReturnType<typeof createCells>>

  return {
    add(name, labels, value = 1) {
      tables[name].of(labels).value += value
    },
    observe(name, labels, seconds) {
      const cell = tables[name].of(labels)
      const value = Math.max(0, seconds)
      let bucket = 0
      while (bucket < BUCKETS.length && value > (BUCKETS[bucket] ?? 0)) bucket++
      cell.buckets[bucket] = (cell.buckets[bucket] ?? 0) + 1
      cell.value += value
      cell.count++
    },
    set(name, labels, value) {
      tables[name].of(labels).value = value
    },
    replace(name, values) {
      tables[name].clear()
      for (const [labels, value] of values) tables[name].of(labels).value = value
    },
    text: () => registry.metrics(),
  }
}

/** Cells are found by their labels as they are given: a caller names them always in the same order. */
function createCells({ labels: names = [], type }: Metric) {
  const cells = new Map<string, Cell>()
  const known = new Map<string, Set<string>>()

  function bounded(labels: Labels): Record<string, string> {
    return Object.fromEntries(
      Object.entries(labels).map(([label, value]) => {
        const values = known.get(label) ?? new Set<string>()
        known.set(label, values)
        const text = String(value)
        if (!values.has(text) && values.size >= VALUES) return [label, OTHER]
        values.add(text)
        return [label, text]
      }),
    )
  }

  function made(labels: Labels): Cell {
    const kept = bounded(labels)
    const key = keyOf(kept)
    const cell = cells.get(key) ?? { labels: kept, value: 0, count: 0, buckets: type === 'histogram' ? emptyBuckets() : [] }
    cells.set(key, cell)
    return cell
  }

  // One without labels is told from the start.
  if (names.length === 0) made({})
  return {
    of: (labels: Labels): Cell => cells.get(keyOf(labels)) ?? made(labels),
    all: () => [...cells.values()],
    clear: () => cells.clear(),
  }
}

function keyOf(labels: Labels): string {
  let key = ''
  for (const label in labels) key += `${labels[label]}\0`
  return key
}

function emptyBuckets(): number[] {
  return Array.from({ length: BUCKETS.length + 1 }, () => 0)
}

/** The registry asks whatever it holds for a name and for values; its own metrics keep numbers in a way of theirs. */
function register(name: string, { type, help }: Metric, cells: ReturnType<typeof createCells>, registry: Writer): void {
  const told = (cell: Cell): Told[] => (type === 'histogram' ? observed(name, cell) : [{ labels: cell.labels, value: cell.value }])
  const metric = {
    name,
    type,
    // The name is that of the family by then: of a counter, without `_total`.
    get: async () => ({ name: metric.name, help, type, values: cells.all().flatMap(told) }),
  }
  registry.registerMetric(metric as unknown as AnyMetric)
}

/** As prom-client tells what it has observed itself. */
function observed(name: string, { labels, value, count, buckets }: Cell): Told[] {
  let below = 0
  const each = [...BUCKETS, '+Inf' as const].map((le, index) => {
    below += buckets[index] ?? 0
    return { labels: { ...labels, le }, value: below, metricName: `${name}_bucket` }
  })
  return [...each, { labels, value, metricName: `${name}_sum` }, { labels, value: count, metricName: `${name}_count` }]
}
