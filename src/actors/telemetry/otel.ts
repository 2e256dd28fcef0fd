/** Spans of OpenTelemetry, sent as OTLP over the way out of svc; loaded only where traces are configured. */
import { createTraceState, ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Sender } from './sender.js'
import type { Tracer } from './spans.js'
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
  const exporter = exporterTo(sender, settings)
  const resource = { 'service.name': 'svc', 'service.version': version, ...settings.resource }
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    sampler: samplerOf(settings),
    spanLimits: { attributeValueLengthLimit: LONGEST },
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('svc', version)
  /** Of our own spans, which are not remote to those below them. */
  const own = new WeakMap<TraceContext, SpanContext>()
  return {
    tracer: {
      start({ name, attributes }, kind, at, parent) {
        const options = { kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes: open(attributes), startTime: at }
        const above = parent && (own.get(parent) ?? remote(parent, read(parent)))
        const span = tracer.startSpan(name, options, above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above))
        const context = headersOf(span.spanContext())
        own.set(context, span.spanContext())
        return {
          context,
          end(ended, more, isError) {
            span.setAttributes(open(more))
            if (isError) span.setStatus({ code: SpanStatusCode.ERROR })
            span.end(Math.max(at, ended))
          },
        }
      },
    },
    end: () => provider.shutdown(),
  }
}

function open(attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>) {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]))
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

function headersOf({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const tracestate = traceState?.serialize() ?? ''
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  return { traceparent, ...(tracestate !== '' && { tracestate }) }
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
