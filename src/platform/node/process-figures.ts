/** What this process takes of the machine. */
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

interface ProcessFigures {
  /** Unix time, seconds. */
  readonly startedAt: number
  /** Since it began, seconds. */
  readonly cpu: number
  /** Bytes. */
  readonly resident: number
  readonly heap: number
  /** Undefined where the system does not tell. */
  readonly descriptors: number | undefined
  /** By how much turns of the event loop were late since it was asked before, seconds, by quantile. */
  readonly late: Readonly<Record<'0.5' | '0.99' | '1', number>>
}

/** How often the loop is looked at, ms. */
const RESOLUTION = 50

export interface ProcessWatch {
  read(): ProcessFigures
  end(): void
}

/** Looks at the event loop until it is ended; never keeps the process alive. */
export function watchProcess(): ProcessWatch {
  const startedAt = Date.now() / 1000 - process.uptime()
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  delays.enable()
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1000)
  return {
    read() {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed } = process.memoryUsage()
      const quantiles = { '0.5': late(delays.percentile(50)), '0.99': late(delays.percentile(99)), '1': late(delays.max) }
      delays.reset()
      return { startedAt, cpu: (user + system) / 1e6, resident: rss, heap: heapUsed, descriptors: openDescriptors(), late: quantiles }
    },
    end: () => void delays.disable(),
  }
}

function openDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}
