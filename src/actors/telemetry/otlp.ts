/**
 * Spans of ours as OTLP in Protobuf (opentelemetry-proto, `trace_service.proto` and `trace.proto`): byte by byte what the official serializer
 * makes of them, for a part of its cost. Names of attributes are few: each is encoded once.
 */
import type { SpanContext } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { ProtobufWriter } from './protobuf.js'
import { bounded, type OwnContext, type SpanRecord, timeOf } from './span-record.js'

/** Field and wire type: of a length and what follows, of a varint, of 8 bytes. */
const BYTES = (field: number) => (field << 3) | 2
const VARINT = (field: number) => field << 3
const EIGHT = (field: number) => (field << 3) | 1

const REQUEST = { resourceSpans: BYTES(1) }
const RESOURCE_SPANS = { resource: BYTES(1), scopeSpans: BYTES(2) }
const RESOURCE = { attributes: BYTES(1), droppedAttributes: VARINT(2) }
const SCOPE_SPANS = { scope: BYTES(1), spans: BYTES(2) }
const SCOPE = { name: BYTES(1), version: BYTES(2) }
const SPAN = {
  traceId: BYTES(1),
  spanId: BYTES(2),
  traceState: BYTES(3),
  parentSpanId: BYTES(4),
  name: BYTES(5),
  kind: VARINT(6),
  startTime: EIGHT(7),
  endTime: EIGHT(8),
  attributes: BYTES(9),
  droppedAttributes: VARINT(10),
  droppedEvents: VARINT(12),
  droppedLinks: VARINT(14),
  status: BYTES(15),
}
const STATUS = { code: VARINT(3) }
const STATUS_ERROR = 2
const KEY_VALUE = { key: BYTES(1), value: BYTES(2) }
const ANY_VALUE = { string: BYTES(1), bool: VARINT(2), int: VARINT(3), double: EIGHT(4), array: BYTES(5) }
const ARRAY_VALUE = { values: BYTES(1) }
/** `Span.flags` (field 16, 4 bytes): whether it was sampled, and whether what is above is another process. */
const flagsOf = (isSampled: boolean, isRemote: boolean) => Uint8Array.of(0x85, 0x01, isSampled ? 1 : 0, isRemote ? 3 : 1, 0, 0)
const FLAGS = [flagsOf(false, false), flagsOf(true, false), flagsOf(false, true), flagsOf(true, true)] as const

type Scope = { readonly name: string; readonly version: string }

/** What it answers writes spans of that resource and scope; the bytes are the caller's. */
export function createOtlp(resource: ReadableSpan['resource'], scope: Scope): (spans: readonly SpanRecord[]) => Uint8Array {
  const writer = new ProtobufWriter()
  const keys = new Map<string, Uint8Array>()
  const head = { resource: resourceBytes(), scope: scopeBytes() }

  function resourceBytes(): Uint8Array {
    const begin = writer.open(RESOURCE_SPANS.resource)
    for (const [name, value] of Object.entries(resource.attributes)) attribute(RESOURCE.attributes, name, value)
    writer.small(RESOURCE.droppedAttributes, 0)
    writer.close(begin)
    return writer.take()
  }

  function scopeBytes(): Uint8Array {
    const begin = writer.open(SCOPE_SPANS.scope)
    writer.string(SCOPE.name, scope.name)
    writer.string(SCOPE.version, scope.version)
    writer.close(begin)
    return writer.take()
  }

  function attribute(tag: number, name: string, value: unknown): void {
    let key = keys.get(name)
    if (key === undefined) keys.set(name, (key = keyOf(name)))
    const pair = writer.open(tag)
    writer.raw(key)
    const begin = writer.open(KEY_VALUE.value)
    writeValue(writer, value)
    writer.close(begin)
    writer.close(pair)
  }

  function attributes(given: Record<string, unknown>, more: Record<string, unknown>): void {
    for (const name in given) {
      const said = Object.hasOwn(more, name) ? more[name] : given[name]
      attribute(SPAN.attributes, name, typeof said === 'string' ? bounded(said) : said)
    }
    for (const name in more) {
      if (Object.hasOwn(given, name)) continue
      const said = more[name]
      attribute(SPAN.attributes, name, typeof said === 'string' ? bounded(said) : said)
    }
  }

  function span({ context, parent, name, kind, from, to, given, more, isError }: SpanRecord): void {
    const begin = writer.open(SCOPE_SPANS.spans)
    writer.hex(SPAN.traceId, context.traceId)
    writer.hex(SPAN.spanId, context.spanId)
    if (context.tracestate !== undefined) writer.string(SPAN.traceState, context.tracestate)
    if (parent !== undefined) writer.hex(SPAN.parentSpanId, parent.spanId)
    writer.string(SPAN.name, name)
    writer.small(SPAN.kind, kind + 1)
    writeTime(writer, SPAN.startTime, from)
    writeTime(writer, SPAN.endTime, to)
    attributes(given, more)
    writer.small(SPAN.droppedAttributes, 0)
    writer.small(SPAN.droppedEvents, 0)
    writer.small(SPAN.droppedLinks, 0)
    const status = writer.open(SPAN.status)
    writer.small(STATUS.code, isError ? STATUS_ERROR : 0)
    writer.close(status)
    writer.raw(FLAGS[(context.isSampled ? 1 : 0) + (isRemote(parent) ? 2 : 0)] ?? FLAGS[0])
    writer.close(begin)
  }

  return (spans) => {
    const ofResource = writer.open(REQUEST.resourceSpans)
    writer.raw(head.resource)
    const ofScope = writer.open(RESOURCE_SPANS.scopeSpans)
    writer.raw(head.scope)
    for (const each of spans) span(each)
    writer.close(ofScope)
    writer.close(ofResource)
    return writer.take()
  }
}

function keyOf(name: string): Uint8Array {
  const writer = new ProtobufWriter()
  writer.string(KEY_VALUE.key, name)
  return writer.take()
}

function writeValue(writer: ProtobufWriter, value: unknown): void {
  if (typeof value === 'string') writer.string(ANY_VALUE.string, value)
  else if (typeof value === 'number') {
    if (Number.isInteger(value) && value < 2 ** 63 && value >= -(2 ** 63)) writer.int64(ANY_VALUE.int, value)
    else writer.double(ANY_VALUE.double, value)
  } else if (typeof value === 'boolean') writer.small(ANY_VALUE.bool, value ? 1 : 0)
  else if (Array.isArray(value)) {
    const list = writer.open(ANY_VALUE.array)
    for (const item of value as readonly unknown[]) {
      const one = writer.open(ARRAY_VALUE.values)
      writeValue(writer, item)
      writer.close(one)
    }
    writer.close(list)
  }
}

/** Unix ms as nanoseconds, which are more than a number holds: whole seconds in two parts. */
function writeTime(writer: ProtobufWriter, tag: number, ms: number): void {
  const [seconds, rest] = timeOf(ms)
  const above = Math.floor(seconds / 0x10000) * 1e9 // of 2^16 ns
  const below = (seconds % 0x10000) * 1e9 + rest
  const high = Math.floor(above / 0x10000) + Math.floor(below / 0x100000000)
  writer.fixed64(tag, high, (above % 0x10000) * 0x10000 + (below % 0x100000000))
}

function isRemote(parent: OwnContext | SpanContext | undefined): boolean {
  return parent !== undefined && 'isRemote' in parent && parent.isRemote === true
}
