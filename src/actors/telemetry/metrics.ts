/**
 * Metrics: counted from the first time somebody asks for them, or from the start where `SVC_AGENT_METRICS` says so. Until then nothing
 * is loaded, nobody listens, and a call costs a comparison.
 */
import { type ProcessWatch, watchProcess } from '../../platform/node/process-figures.js'
import type { Metrics } from '../../ports/facades.js'
import { counting } from './counting.js'
import type { Meter } from './registry.js'
import type { MetricName } from './metric-table.js'
import type { Witness } from './witness.js'

/** What is true at the moment of a scrape. */
export interface Figures {
  readonly values: Partial<Record<MetricName, number>>
  readonly plugins: Readonly<Record<string, number>>
  readonly files: Readonly<Record<string, number>>
}

interface MetricParts {
  readonly version: string
  /** The operator wants them from the start. */
  readonly isWished: boolean
  /** Tells the witness what happens from now on; answers the function that ends it. */
  observe(witness: Witness): () => void
  figures(): Promise<Figures>
}

interface Counting {
  readonly meter: Meter
  readonly process: ProcessWatch
  end(): void
}

interface ServedMetrics extends Metrics {
  /** At the start: from now on everything is counted where that is wished. */
  begin(): Promise<void>
  end(): void
}

export function createMetrics(parts: MetricParts): ServedMetrics {
  let beginning: Promise<Counting> | undefined
  let meter: Meter | undefined

  async function begin(): Promise<Counting> {
    const { createMeter } = await import('./registry.js')
    meter = createMeter()
    meter.set('svc_build_info', { version: parts.version, node: process.versions.node }, 1)
    return { meter, process: watchProcess(), end: parts.observe(counting(meter)) }
  }

  return {
    async begin() {
      if (parts.isWished) await (beginning ??= begin())
    },
    async read() {
      const now = await (beginning ??= begin())
      measure(now, await parts.figures())
      return now.meter.text()
    },
    answered(operation, status, ms) {
      if (meter === undefined) return
      meter.add('svc_http_requests_total', { operation: operation ?? 'none', status })
      if (operation !== undefined && ms !== undefined) meter.observe('svc_http_request_duration_seconds', { operation }, ms / 1000)
    },
    end() {
      void beginning?.then((counted) => {
        counted.end()
        counted.process.end()
      })
    },
  }
}

function measure({ meter, process }: Counting, { values, plugins, files }: Figures): void {
  for (const [name, value] of Object.entries(values)) meter.set(name as MetricName, {}, value)
  meter.replace('svc_plugins', entriesOf('state', plugins))
  meter.replace('svc_store_bytes', entriesOf('file', files))
  const { startedAt, cpu, resident, heap, descriptors, late } = process.read()
  meter.set('process_start_time_seconds', {}, startedAt)
  meter.set('process_cpu_seconds_total', {}, cpu)
  meter.set('process_resident_memory_bytes', {}, resident)
  meter.set('process_heap_bytes', {}, heap)
  if (descriptors !== undefined) meter.set('process_open_fds', {}, descriptors)
  meter.replace('svc_event_loop_delay_seconds', entriesOf('quantile', late))
}

function entriesOf(label: string, values: Readonly<Record<string, number>>) {
  return Object.entries(values).map(([value, number]) => [{ [label]: value }, number] as const)
}
