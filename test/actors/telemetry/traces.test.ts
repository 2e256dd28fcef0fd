import { describe, expect, test } from 'vitest'
import { createSpans, type Span, type Tracer } from '../../../src/actors/telemetry/spans.js'
import { observe } from '../../../src/actors/telemetry/observer.js'
import { traceSettings } from '../../../src/actors/telemetry/trace-settings.js'
import { readParent, traceOf } from '../../../src/protocol/trace-context.js'

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const settingsOf = (env: Record<string, string>) => traceSettings({ env, log: silent })

describe('where traces go', () => {
  test('is nowhere without an address, and where the SDK is switched off', () => {
    expect(settingsOf({})).toBeUndefined()
    expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
    expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined()
    expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toBeUndefined()
  })

  test('is said by the variables of OpenTelemetry, those of traces before those of all', () => {
    expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/' })).toMatchObject({
      url: 'http://c:4318/v1/traces',
      encoding: 'protobuf',
      timeout: 10_000,
      contents: false,
    })
    expect(
      settingsOf({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/here',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=b%20c,d=e',
        OTEL_SERVICE_NAME: 'mine',
        OTEL_RESOURCE_ATTRIBUTES: 'team=x,service.name=other',
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      }),
    ).toMatchObject({
      url: 'http://t/here',
      encoding: 'json',
      headers: { a: 'b c', d: 'e' },
      resource: { team: 'x', 'service.name': 'mine' },
      contents: true,
    })
  })
})

const ID = '0af7651916cd43dd8448eb211c80319c'

test('a header that is no traceparent counts as none', () => {
  const good = `00-${ID}-b7ad6b7169203331-01`
  expect(readParent({ traceparent: good })).toEqual({ traceId: ID, spanId: 'b7ad6b7169203331', sampled: true })
  for (const bad of [`ff-${ID}-b7ad6b7169203331-01`, `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `${good}-x`, good.toUpperCase(), 'x'])
    expect([bad, traceOf({ traceparent: bad })]).toEqual([bad, undefined])
  expect(traceOf({ traceparent: good, tracestate: 'a=b' })).toEqual({ traceparent: good, tracestate: 'a=b' })
})

/** Spans as they ended, each with its parent. */
function recorder() {
  const ended: { name: string; parent: string | undefined; attributes: Record<string, unknown> }[] = []
  let count = 0
  const tracer: Tracer = {
    start({ name, attributes }, _kind, _at, parent): Span {
      const traceparent = `span-${++count}`
      return {
        context: { traceparent },
        end: (_ended, more) => void ended.push({ name, parent: parent?.traceparent, attributes: { ...attributes, ...more } }),
      }
    },
  }
  return { tracer, ended }
}

test('a run without an end, because its session was deleted, is a span that was interrupted, with those below it', () => {
  const { tracer, ended } = recorder()
  const { traces, witness } = createSpans(tracer, { contents: false })
  let tell: (type: string, data: object) => void = () => undefined
  const bus = {
    subscribe(deliver: (record: { type: string; sessionId: string; data: unknown }) => void) {
      tell = (type, data) => deliver({ type, sessionId: 's', data: { sessionID: 's', ...data } })
      return () => undefined
    },
  }
  observe(bus, witness, { now: () => 9, onFault: () => undefined })
  traces.arrived('s', 'm', { traceparent: 'of-the-caller' })
  tell('message.updated', { info: { role: 'user', id: 'm', sessionId: 's', time: { created: 1 }, agent: 'build', model: {} } })
  tell('session.status', { status: { type: 'busy' }, runID: 'r', startedAt: 2 })
  expect(traces.of('s')).toEqual({ traceparent: 'span-1' })
  tell('message.part.updated', {
    part: { type: 'tool', messageId: 'a', callId: 'c', tool: 'bash', state: { status: 'running', input: {}, time: { start: 3 } } },
    time: 3,
  })
  expect(traces.of('s', 'c')).toEqual({ traceparent: 'span-2' })
  tell('session.deleted', {})
  expect(traces.of('s')).toBeUndefined()
  expect(ended.map(({ name, parent, attributes }) => ({ name, parent, error: attributes['error.type'] }))).toEqual([
    { name: 'execute_tool bash', parent: 'span-1', error: 'interrupted' },
    { name: 'invoke_agent build', parent: 'of-the-caller', error: 'interrupted' },
  ])
})
