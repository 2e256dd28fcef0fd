import { expect, test } from 'vitest'
import { openExport } from '../../../src/actors/telemetry/otel.js'
import { readParent } from '../../../src/protocol/trace-context.js'

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331'

interface Sent {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Record<string, unknown>[] }[] }[]
}

/** What is sent when it ends, as JSON of OTLP. */
function exporting(sampler: string) {
  const bodies: Uint8Array[] = []
  const settings = {
    url: 'http://collector/v1/traces',
    headers: {},
    encoding: 'json' as const,
    timeout: 1000,
    sampler,
    samplerArgument: 1,
    resource: {},
    contents: false,
  }
  const sender = { send: async (body: Uint8Array) => bodies.push(body) > 0, end: () => undefined }
  const { tracer, end } = openExport({ settings, sender, version: '1', read: readParent })
  const sent = async () => {
    await end()
    const told = bodies.map((body) => JSON.parse(Buffer.from(body).toString()) as Sent)
    return told.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))
  }
  return { tracer, sent }
}

test('a span is sent with its times, its parent, what was said of it at both ends, and no text longer than 64 KiB', async () => {
  const { tracer, sent } = exporting('parentbased_always_on')
  const top = tracer.start({ name: 'top', attributes: { a: 1 } }, 'internal', 1_700_000_000_123, {
    traceparent: `${CALLER}-01`,
    tracestate: 'x=y',
  })
  const below = tracer.start({ name: 'below', attributes: { long: 'x'.repeat(100_000) } }, 'client', 1_700_000_000_200.5, top.context)
  expect(top.context).toEqual({
    traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-01$/) as string,
    tracestate: 'x=y',
  })
  below.end(1_700_000_000_100, { list: ['one'] }, true)
  top.end(1_700_000_001_000, { a: 2, said: true }, false)
  const [first, last] = await sent()
  const topId = readParent(top.context)?.spanId
  expect(last).toMatchObject({
    name: 'top',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: topId,
    parentSpanId: 'b7ad6b7169203331',
    kind: 1,
    startTimeUnixNano: '1700000000123000000',
    endTimeUnixNano: '1700000001000000000',
    attributes: [
      { key: 'a', value: { intValue: 2 } },
      { key: 'said', value: { boolValue: true } },
    ],
    status: { code: 0 },
  })
  // A clock that went back ends nothing before its beginning.
  expect(first).toMatchObject({
    name: 'below',
    parentSpanId: topId,
    kind: 3,
    startTimeUnixNano: '1700000000200500000',
    endTimeUnixNano: '1700000000200500000',
    status: { code: 2 },
  })
  const values = Object.fromEntries(((first ?? {})['attributes'] as { key: string; value: object }[]).map(({ key, value }) => [key, value]))
  expect(values).toEqual({ long: { stringValue: 'x'.repeat(64 * 1024) }, list: { arrayValue: { values: [{ stringValue: 'one' }] } } })
})

test.each([
  ['parentbased_always_on', `${CALLER}-00`],
  ['always_off', `${CALLER}-01`],
  ['parentbased_always_off', undefined],
])('what %s does not take is handed on as that, and not sent', async (sampler, traceparent) => {
  const { tracer, sent } = exporting(sampler)
  const parent = traceparent === undefined ? undefined : { traceparent }
  const top = tracer.start({ name: 'top', attributes: {} }, 'internal', 1, parent)
  const below = tracer.start({ name: 'below', attributes: {} }, 'internal', 1, top.context)
  expect([top, below].map(({ context }) => context.traceparent.slice(-3))).toEqual(['-00', '-00'])
  expect(readParent(below.context)?.traceId).toBe(readParent(top.context)?.traceId)
  below.end(2, {}, false)
  top.end(2, {}, false)
  expect(await sent()).toEqual([])
})
