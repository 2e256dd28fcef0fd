/**
 * Spans of OpenTelemetry, sent as OTLP over the way out of svc; loaded only where traces are configured. Its samplers decide, its processor gathers
 * and its serializer writes JSON. A span itself (`span-record.ts`), its ids and what is written of it in Protobuf (`otlp.ts`) are ours: those of the
 * library, which anybody may change and time, cost a turn more than all of the rest.
 */
import { randomFillSync } from 'node:crypto'
import { createTraceState, ROOT_CONTEXT, type SpanContext, SpanKind, trace, TraceFlags } from '@opentelemetry/api'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import { createOtlp } from './otlp.js'
import type { Sender } from './sender.js'
import { OwnContext, opened, type SpanOwner, SpanRecord } from './span-record.js'
import type { Tracer } from './spans.js'
import type { readParent, TraceContext } from '../../protocol/trace-context.js'
import type { TraceSettings } from './trace-settings.js'

/** Bytes of the id of a span. */
const ID = 8

type Started = Parameters<Tracer['start']>[0]
type Serialize = (spans: (ReadableSpan & SpanRecord)[]) => Uint8Array | undefined

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
  const own = { 'service.name': 'svc', 'service.version': version, ...settings.resource }
  const resource = defaultResource().merge(resourceFromAttributes(own))
  const instrumentationScope = { name: 'svc', version }
  const serialize: Serialize =
    settings.encoding === 'json' ? (spans) => JsonTraceSerializer.serializeRequest(spans) : createOtlp(resource, instrumentationScope)
  const processor = new BatchSpanProcessor({ exporter: exporterTo(sender, serialize) })
  const owner: SpanOwner = { resource, instrumentationScope, ended: (span) => processor.onEnd(span) }
  const sampler = samplerOf(settings)
  const nextId = ids()

  /** What is below one of ours is decided as that was: samplers look at the trace or at what is above. */
  function below(above: OwnContext): OwnContext {
    return new OwnContext(above.traceId, nextId(), above.isSampled, above.traceState)
  }

  function top({ name, attributes }: Started, kind: SpanKind, above: SpanContext | undefined): OwnContext {
    const traceId = above?.traceId ?? nextId() + nextId()
    const around = above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above)
    const { decision } = sampler.shouldSample(around, traceId, name, kind, opened(attributes), [])
    return new OwnContext(traceId, nextId(), decision === SamplingDecision.RECORD_AND_SAMPLED, above?.traceState)
  }

  return {
    tracer: {
      start(span, kindName, at, parent) {
        const kind = kindName === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL
        const own = parent && OwnContext.of(parent)
        if (own !== undefined) return new SpanRecord(owner, span, kind, at, below(own), own)
        const above = parent && remote(parent, read(parent))
        return new SpanRecord(owner, span, kind, at, top(span, kind, above), above)
      },
    },
    end: () => processor.shutdown(),
  }
}

/** Of spans: 8 random bytes in hexadecimal digits each; a trace has two of them. Bytes are made for many at a time. */
function ids(): () => string {
  const bytes = Buffer.alloc(ID * 128)
  let digits = ''
  let at = 0
  return () => {
    if (at === digits.length) {
      digits = randomFillSync(bytes).toString('hex')
      at = 0
    }
    return digits.slice(at, (at += ID * 2))
  }
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

function exporterTo(sender: Sender, serialize: Serialize): SpanExporter {
  async function deliver(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): Promise<void> {
    // None but ours come to it.
    const body = serialize(spans as (ReadableSpan & SpanRecord)[])
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
