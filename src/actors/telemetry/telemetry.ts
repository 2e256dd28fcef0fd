/** What is told to the outside of what goes on here: traces, and times in the log. Without a variable that asks for it nothing is loaded, and nobody listens. */
import { waitAtMost } from '../../kernel/patience.js'
import type { Effects, Log } from '../../ports/effects.js'
import type { Traces } from '../../ports/telemetry.js'
import { wishOf } from '../../protocol/system/variables.js'
import { type Heard, observe } from './observer.js'
import { createSender } from './sender.js'
import { createSpans } from './spans.js'
import { timing } from './timing.js'
import { readParent } from '../../protocol/trace-context.js'
import { traceSettings } from './trace-settings.js'

interface Telemetry<Given> {
  readonly traces: Traces
  /** What was given, with a log which says of lines about a session to which trace they belong. */
  readonly effects: Given
  /** Begins to listen. */
  listen(bus: Heard): void
  /** Sends what waits. */
  end(): Promise<void>
}

/** What a stop waits for a collector, ms. */
const LAST_WORDS = 1000
const NONE: Traces = { of: () => undefined, arrived: () => undefined }

type TelemetryEffects = Pick<Effects, 'clock' | 'env' | 'fetch' | 'log'>

export async function openTelemetry<Given extends TelemetryEffects>(effects: Given, version: string): Promise<Telemetry<Given>> {
  const { clock, env, log } = effects
  const now = () => clock.now()
  const onFault = () => log.error('telemetry ended: see the line before')
  const isTimed = wishOf(env, 'SVC_AGENT_PERF_LOG') === true
  const settings = traceSettings(effects)
  if (settings === undefined) {
    return {
      traces: NONE,
      effects,
      listen: (bus) => void (isTimed && observe(bus, timing(log), { now, onFault })),
      end: async () => undefined,
    }
  }
  const { openExport } = await import('./otel.js')
  const exporting = openExport({ settings, sender: createSender(effects, settings), version, read: readParent })
  const { traces, witness } = createSpans(exporting.tracer, settings)
  const traced = tracedLog(log, traces)
  log.info('traces are sent', { host: new URL(settings.url).host, contents: settings.contents })
  return {
    traces,
    effects: { ...effects, log: traced },
    listen(bus) {
      // Before their spans are over, so that its lines name them.
      if (isTimed) observe(bus, timing(traced), { now, onFault })
      observe(bus, witness, { now, onFault, keepsTexts: settings.contents })
    },
    end: () =>
      waitAtMost(
        clock,
        exporting.end().catch(() => undefined),
        LAST_WORDS,
      ),
  }
}

function tracedLog(log: Log, traces: Traces): Log {
  const at = (level: keyof Log) => (message: string, fields?: Record<string, unknown>) =>
    log[level](message, { ...fields, ...idsOf(traces, fields) })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function idsOf(traces: Traces, fields: Record<string, unknown> = {}) {
  const { sessionId, callId } = fields
  const context = typeof sessionId === 'string' ? traces.of(sessionId, typeof callId === 'string' ? callId : undefined) : undefined
  const ids = context && readParent(context)
  return ids && { traceId: ids.traceId, spanId: ids.spanId }
}
