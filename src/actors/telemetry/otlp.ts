/**
 * Spans of ours as OTLP in Protobuf (opentelemetry-proto, `trace_service.proto` and `trace.proto`): byte by byte what the official serializer
 * makes of them, for a part of its cost. What spans say is mostly what others said before: it is copied.
 */
import { type SpanContext, SpanStatusCode } from '@opentelemetry/api'
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
const KEY_VALUE = { key: BYTES(1), value: BYTES(2) }
const ANY_VALUE = { string: BYTES(1), bool: VARINT(2), int: VARINT(3), double: EIGHT(4), array: BYTES(5) }
const ARRAY_VALUE = { values: BYTES(1) }
/** Of an attribute whose bytes are remembered, and how many of each name. */
const SHORT = 128
const REMEMBERED = 32
/** Names of spans and attributes that are remembered. */
const NAMES = 256
/** What stands at the end of a span, by whether it failed, was sampled, and is below another process. */
const ENDS = [0, 1, 2, 3, 4, 5, 6, 7].map((which) =>
  written((to) => {
    to.small(SPAN.droppedAttributes, 0)
    to.small(SPAN.droppedEvents, 0)
    to.small(SPAN.droppedLinks, 0)
    const status = to.open(SPAN.status)
    to.small(STATUS.code, (which & 1) === 1 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET)
    to.close(status)
    // `flags` (field 16, 4 bytes): whether it was sampled, that it is known whether what is above is another process, and whether it is.
    to.raw(Uint8Array.of(0x85, 0x01, (which & 2) >> 1, (which & 4) === 4 ? 3 : 1, 0, 0))
  }),
)

type Said = Readonly<Record<string, unknown>>
type Scope = { readonly name: string; readonly version: string }

/** What it answers writes spans of that resource and scope; the bytes are the caller's. */
export function createOtlp(resource: ReadableSpan['resource'], scope: Scope): (spans: readonly SpanRecord[]) => Uint8Array {
  const writer = new ProtobufWriter()
  const pairs = remembered<Map<unknown, Uint8Array>>(() => new Map())
  const names = remembered((name) => written((to) => to.string(SPAN.name, name)))
  const ofResource = written((to) => {
    const begin = to.open(RESOURCE_SPANS.resource)
    for (const [name, value] of Object.entries(resource.attributes)) writeAttribute(to, RESOURCE.attributes, name, value)
    to.small(RESOURCE.droppedAttributes, 0)
    to.close(begin)
  })
  const ofScope = written((to) => {
    const begin = to.open(SCOPE_SPANS.scope)
    to.string(SCOPE.name, scope.name)
    to.string(SCOPE.version, scope.version)
    to.close(begin)
  })

  function attribute(name: string, value: unknown): void {
    const known = pairs(name)
    const pair = known.get(value)
    if (pair === undefined) newAttribute(name, value, known)
    else writer.raw(pair)
  }

  function newAttribute(name: string, value: unknown, known: Map<unknown, Uint8Array>): void {
    const before = writer.length
    writeAttribute(writer, SPAN.attributes, name, typeof value === 'string' ? bounded(value) : value)
    if (typeof value === 'object' || writer.length - before > SHORT) return
    if (known.size >= REMEMBERED) known.clear()
    known.set(value, writer.since(before))
  }

  function span({ context, parent, name, kind, from, to, given, more, code }: SpanRecord): void {
    const begin = writer.open(SCOPE_SPANS.spans)
    writer.hex(SPAN.traceId, context.traceId)
    writer.hex(SPAN.spanId, context.spanId)
    if (context.tracestate !== undefined) writer.string(SPAN.traceState, context.tracestate)
    if (parent !== undefined) writer.hex(SPAN.parentSpanId, parent.spanId)
    writer.raw(names(name))
    writer.small(SPAN.kind, kind + 1)
    writeTime(writer, SPAN.startTime, from)
    writeTime(writer, SPAN.endTime, to)
    const { first, last } = apart(given, more)
    for (const each in first) attribute(each, first[each])
    for (const each in last) attribute(each, last[each])
    writer.raw(endOf(code === SpanStatusCode.ERROR, context.isSampled, isRemote(parent)))
    writer.close(begin)
  }

  return (spans) => {
    const whole = writer.open(REQUEST.resourceSpans)
    writer.raw(ofResource)
    const inScope = writer.open(RESOURCE_SPANS.scopeSpans)
    writer.raw(ofScope)
    for (const each of spans) span(each)
    writer.close(inScope)
    writer.close(whole)
    return writer.take()
  }
}

function written(write: (to: ProtobufWriter) => void): Uint8Array {
  const writer = new ProtobufWriter(SHORT)
  write(writer)
  return writer.take()
}

/** Made once of each name; of names that are many, anew. */
function remembered<Made>(make: (name: string) => Made): (name: string) => Made {
  const known = new Map<string, Made>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    if (known.size >= NAMES) known.clear()
    const made = make(name)
    known.set(name, made)
    return made
  }
}

/** A name stands once, with what was said last. */
function apart(given: Said, more: Said): { readonly first: Said; readonly last: Said } {
  for (const name in more) if (Object.hasOwn(given, name)) return { first: { ...given, ...more }, last: {} }
  return { first: given, last: more }
}

function endOf(isError: boolean, isSampled: boolean, isFar: boolean): Uint8Array {
  return ENDS[(isError ? 1 : 0) | (isSampled ? 2 : 0) | (isFar ? 4 : 0)] as Uint8Array
}

function writeAttribute(writer: ProtobufWriter, tag: number, name: string, value: unknown): void {
  const pair = writer.open(tag)
  writer.string(KEY_VALUE.key, name)
  const begin = writer.open(KEY_VALUE.value)
  writeValue(writer, value)
  writer.close(begin)
  writer.close(pair)
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
  return parent !== undefined && 'isRemote' in parent && (parent.isRemote ?? false)
}
