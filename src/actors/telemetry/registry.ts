/** The numbers themselves, kept and written by prom-client; loaded when somebody asks for metrics first. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { BUCKETS, METRICS, type Metric, type MetricName } from './metric-table.js'

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

/** Values that a label may have; what comes after them is told as `other`. */
const VALUES = 200
const OTHER = 'other'

export function createMeter(): Meter {
  const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const made = new Map<MetricName, Counter | Gauge | Histogram>()
  const known = new Map<string, Set<string>>()
  for (const [name, metric] of Object.entries<Metric>(METRICS)) made.set(name as MetricName, metricOf(name, metric, registry))

  function bounded(name: MetricName, labels: Labels): Record<string, string> {
    return Object.fromEntries(
      Object.entries(labels).map(([label, value]) => {
        const values = known.get(`${name} ${label}`) ?? new Set<string>()
        known.set(`${name} ${label}`, values)
        const text = String(value)
        if (values.has(text) || values.size < VALUES) {
          values.add(text)
          return [label, text]
        }
        return [label, OTHER]
      }),
    )
  }

  function of<Kind extends Counter | Gauge | Histogram>(name: MetricName, kind: new (...given: never[]) => Kind): Kind {
    const metric = made.get(name)
    if (!(metric instanceof kind)) throw new Error(`${name} is no ${kind.name}`)
    return metric
  }

  return {
    add: (name, labels, value = 1) => of(name, Counter).inc(bounded(name, labels), value),
    observe: (name, labels, seconds) => of(name, Histogram).observe(bounded(name, labels), Math.max(0, seconds)),
    set(name, labels, value) {
      if (METRICS[name].type === 'gauge') return of(name, Gauge).set(bounded(name, labels), value)
      const counter = of(name, Counter)
      counter.remove(bounded(name, labels))
      counter.inc(bounded(name, labels), value)
    },
    replace(name, values) {
      of(name, Gauge).reset()
      for (const [labels, value] of values) of(name, Gauge).set(bounded(name, labels), value)
    },
    text: () => registry.metrics(),
  }
}

function metricOf(name: string, { type, help, labels = [] }: Metric, registry: Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>) {
  const common = { name, help, labelNames: [...labels], registers: [registry] }
  if (type === 'counter') return new Counter(common)
  return type === 'gauge' ? new Gauge(common) : new Histogram({ ...common, buckets: [...BUCKETS] })
}
