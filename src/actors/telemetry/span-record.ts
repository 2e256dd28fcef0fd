/**
 * A span of ours, from its beginning until it is sent: what was said of it, as it was said. The library reads it as one of its own and makes of it
 * what it asks for; our writing of OTLP (`otlp.ts`) takes it as it is.
 */
import { type HrTime, type SpanKind, type SpanContext, SpanStatusCode, TraceFlags, type TraceState } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { cut } from '../../kernel/cut.js'
import type { TraceContext } from '../../protocol/trace-context.js'
import type { Attributes } from './genai.js'
import type { Span } from './spans.js'

/** Characters of an attribute; contents may be long. */
const LONGEST = 64 * 1024
const NONE: never[] = []

/** Of one of our spans, which is not remote to those below it. */
export class OwnContext implements TraceContext {
  readonly traceparent: string
  declare readonly tracestate?: string
  readonly #traceId: string
  readonly #spanId: string
  readonly #isSampled: boolean
  readonly #state: TraceState | undefined

  constructor(traceId: string, spanId: string, isSampled: boolean, state: TraceState | undefined) {
    this.traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
    const tracestate = state?.serialize() ?? ''
    if (tracestate !== '') this.tracestate = tracestate
    this.#traceId = traceId
    this.#spanId = spanId
    this.#isSampled = isSampled
    this.#state = state
  }

  static of(context: TraceContext): OwnContext | undefined {
    return #state in context ? context : undefined
  }

  get traceId() {
    return this.#traceId
  }

  get spanId() {
    return this.#spanId
  }

  get isSampled() {
    return this.#isSampled
  }

  get traceFlags() {
    return this.#isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  }

  get traceState(): TraceState | undefined {
    return this.#state
  }
}

/** What all spans share, and who gets them. */
export interface SpanOwner {
  readonly resource: ReadableSpan['resource']
  readonly instrumentationScope: ReadableSpan['instrumentationScope']
  ended(span: ReadableSpan & SpanRecord): void
}

/** What is a getter is read by the library alone, and where spans are sent as JSON. */
export class SpanRecord implements Span {
  readonly name: string
  readonly kind: SpanKind
  readonly context: OwnContext
  readonly parent: OwnContext | SpanContext | undefined
  /** Unix ms, whole or not. */
  readonly from: number
  to: number
  readonly given: Attributes
  /** Said at its end; what has a name of those that were given stands instead of that. */
  more: Attributes = {}
  code = SpanStatusCode.UNSET
  readonly owner: SpanOwner

  constructor(
    owner: SpanOwner,
    { name, attributes }: { readonly name: string; readonly attributes: Attributes },
    kind: SpanKind,
    from: number,
    context: OwnContext,
    parent: OwnContext | SpanContext | undefined,
  ) {
    this.owner = owner
    this.name = name
    this.given = attributes
    this.kind = kind
    this.from = from
    this.to = from
    this.context = context
    this.parent = parent
  }

  end(at: number, more: Attributes, isError: boolean): void {
    if (!this.context.isSampled) return
    if (at > this.from) this.to = at
    this.more = more
    if (isError) this.code = SpanStatusCode.ERROR
    this.owner.ended(this as ReadableSpan & SpanRecord)
  }

  spanContext() {
    return this.context
  }

  get parentSpanContext() {
    return this.parent
  }

  get attributes() {
    const all: ReadableSpan['attributes'] = {}
    for (const said of [this.given, this.more])
      for (const [name, value] of Object.entries(opened(said))) all[name] = typeof value === 'string' ? bounded(value) : value
    return all
  }

  get startTime() {
    return timeOf(this.from)
  }

  get endTime() {
    return timeOf(this.to)
  }

  get duration() {
    return timeOf(this.to - this.from)
  }

  get status() {
    return { code: this.code }
  }

  get resource() {
    return this.owner.resource
  }

  get instrumentationScope() {
    return this.owner.instrumentationScope
  }

  get links() {
    return NONE
  }

  get events() {
    return NONE
  }

  get ended() {
    return true
  }

  get droppedAttributesCount() {
    return 0
  }

  get droppedEventsCount() {
    return 0
  }

  get droppedLinksCount() {
    return 0
  }
}

/** Nobody writes to a list of ours. */
export function opened(attributes: Attributes): ReadableSpan['attributes'] {
  return attributes as ReadableSpan['attributes']
}

export function bounded(text: string): string {
  return text.length > LONGEST ? cut(text, LONGEST, '') : text
}

/** `ms` are whole or not. */
export function timeOf(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}
