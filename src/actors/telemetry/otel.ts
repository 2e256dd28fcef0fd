/**
 * Spans of OpenTelemetry, sent as OTLP over the way out of svc; loaded only where traces are configured. Its samplers decide, its processor gathers
 * and its serializer writes. A span itself is what that reads of one: the library's own, which anybody may change and time, costs a turn more than
 * all of the rest.
 */
import {
  type Context,
  createTraceState,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import { cut } from '../../kernel/cut.js'
import type { Sender } from './sender.js'
import type { Attributes } from './genai.js'
import type { Span, Tracer } from './spans.js'
import type { readParent, TraceContext } from '../../protocol/trace-context.js'
import type { TraceSettings } from './trace-settings.js'

/** Characters of an attribute; contents may be long. */
const LONGEST = 64 * 1024

interface Exporting {
  readonly tracer: Tracer
  /** Sends what waits; resolves when that is done or given up. */
  end(): Promise<void>
}

interface ExportParts {
  readonly settings: TraceSettings
  readonly sender: Sender
  readonly version: string
  readonly read: typeof readParent
}

/** What it needs of svc is handed in: nothing of the server is loaded twice. */
export function openExport({ settings, sender, version, read }: ExportParts): Exporting {
  const processor = new BatchSpanProcessor({ exporter: exporterTo(sender, settings) })
  const own = { 'service.name': 'svc', 'service.version': version, ...settings.resource }
  const resource = defaultResource().merge(resourceFromAttributes(own))
  const instrumentationScope = { name: 'svc', version }
  const sampler = samplerOf(settings)
  const ids = new RandomIdGenerator()

  function start({ name, attributes }: Parameters<Tracer['start']>[0], kind: SpanKind, at: number, parent: TraceContext | undefined): Span {
    const above = parent && (OwnContext.spanOf(parent) ?? remote(parent, read(parent)))
    const traceId = above?.traceId ?? ids.generateTraceId()
    const around: Context = above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above)
    const isSampled =
      sampler.shouldSample(around, traceId, name, kind, open(attributes), []).decision === SamplingDecision.RECORD_AND_SAMPLED
    const traceState = above?.traceState
    const spanContext: SpanContext = {
      traceId,
      spanId: ids.generateSpanId(),
      traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      ...(traceState !== undefined && { traceState }),
    }
    const context = new OwnContext(spanContext)

    function end(ended: number, more: Attributes, isError: boolean): void {
      if (!isSampled) return
      const until = Math.max(at, ended)
      processor.onEnd({
        name,
        kind,
        spanContext: () => spanContext,
        ...(above !== undefined && { parentSpanContext: above }),
        startTime: timeOf(at),
        endTime: timeOf(until),
        duration: timeOf(until - at),
        status: { code: isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
        attributes: within(attributes, more),
        links: [],
        events: [],
        ended: true,
        resource,
        instrumentationScope,
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: 0,
      })
    }

    return { context, end }
  }

  return {
    tracer: { start: (span, kind, at, parent) => start(span, kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL, at, parent) },
    end: () => processor.shutdown(),
  }
}

/** Nobody writes to a list of ours. */
function open(attributes: Attributes): ReadableSpan['attributes'] {
  return attributes as ReadableSpan['attributes']
}

/** Copied one by one: an object that is spread from others is read at a third of the pace. */
function within(...given: readonly Attributes[]): ReadableSpan['attributes'] {
  const all: ReadableSpan['attributes'] = {}
  for (const attributes of given)
    for (const [name, value] of Object.entries(open(attributes))) all[name] = typeof value === 'string' ? cut(value, LONGEST, '') : value
  return all
}

/** `ms` are whole or not. */
function timeOf(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

function remote(parent: TraceContext, read: ReturnType<typeof readParent>): SpanContext | undefined {
  return (
    read && {
      traceId: read.traceId,
      spanId: read.spanId,
      traceFlags: read.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
      ...(parent.tracestate !== undefined && { traceState: createTraceState(parent.tracestate) }),
    }
  )
}

/** Of one of our spans, which is not remote to those below it. */
class OwnContext implements TraceContext {
  readonly traceparent: string
  declare readonly tracestate?: string
  readonly #span: SpanContext

  constructor(span: SpanContext) {
    const { traceId, spanId, traceFlags, traceState } = span
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
    const tracestate = traceState?.serialize() ?? ''
    if (tracestate !== '') this.tracestate = tracestate
    this.#span = span
  }

  static spanOf(context: TraceContext): SpanContext | undefined {
    return #span in context ? context.#span : undefined
  }
}

function samplerOf({ sampler, samplerArgument }: TraceSettings): Sampler {
  const root = sampler.replace(/^parentbased_/, '')
  const chosen =
    root === 'always_off'
      ? new AlwaysOffSampler()
      : root === 'traceidratio'
        ? new TraceIdRatioBasedSampler(samplerArgument)
        : new AlwaysOnSampler()
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root: chosen }) : chosen
}

function exporterTo(sender: Sender, { encoding }: TraceSettings): SpanExporter {
  const serializer = encoding === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer

  async function deliver(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): Promise<void> {
    const body = serializer.serializeRequest(spans)
    done({ code: body !== undefined && (await sender.send(body)) ? 0 : 1 })
  }

  return {
    export(spans, done) {
      void deliver(spans, done)
    },
    // Whoever gives it spans waits for `done` before.
    async shutdown() {
      sender.end()
    },
  }
}
