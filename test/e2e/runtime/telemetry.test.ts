/** What the built program tells an operator: one trace of a turn, received as OTLP; metrics over HTTP; lines of the log. */
import { createServer, type Server as HttpServer } from 'node:http'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { bundledAgent } from '../../fixtures/agents/bundled.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { readOpenMetrics } from '../../fakes/openmetrics.js'
import { PATIENCE } from '../../fakes/patience.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, toolProgram, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

const AGENT = bundledAgent('working')
const META = fileURLToPath(new URL('../../fixtures/mcp-tells-meta.mjs', import.meta.url))
const PLUGIN = 'dev.example.traced'
const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly status: { readonly code?: number }
}

/** The parts of `ExportTraceServiceRequest` (opentelemetry/proto, JSON form) that are looked at. */
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan['attributes'] }
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly OtlpSpan[] }[]
  }[]
}

interface Collector {
  readonly url: string
  readonly requests: OtlpRequest[]
  readonly spans: () => OtlpSpan[]
  readonly headers: Record<string, unknown>[]
  close(): Promise<void>
}

async function openCollector(): Promise<Collector> {
  const requests: OtlpRequest[] = []
  const headers: Record<string, unknown>[] = []
  const server: HttpServer = createServer((incoming, answer) => {
    const pieces: Buffer[] = []
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.on('end', () => {
      headers.push({ path: incoming.url, ...incoming.headers })
      requests.push(JSON.parse(Buffer.concat(pieces).toString()) as OtlpRequest)
      answer.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    headers,
    spans: () =>
      requests.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

let scene: Scene
let model: ModelServer
let collector: Collector
afterEach(async () => {
  await scene.close()
  await model.close()
  await collector.close()
})

const CALLS = [
  { name: 'bash', input: { command: 'true', description: 'nothing' } },
  { name: 'mcp__meta__meta', input: {} },
  { name: 'tell', input: {} },
  { name: 'task', input: { description: 'a task', prompt: 'child', subagent_type: 'general', background: false } },
  { name: 'task', input: { description: 'another', prompt: 'say hello', subagent_type: 'codex', background: false } },
]

/** One call after the other, and the end. */
function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const messages = body?.messages ?? []
  const isChild = messages.some(({ role, content }) => role === 'user' && JSON.stringify(content).includes('child'))
  const call = isChild ? undefined : CALLS[messages.filter(({ role }) => role === 'tool').length]
  if (call === undefined) return reply(text('Done.'), finish('stop'))
  return reply(...toolCall({ id: `call_${messages.length}`, ...call }), finish('tool-calls'))
}

const valueOf = (span: OtlpSpan | undefined, key: string) =>
  Object.values(span?.attributes.find((each) => each.key === key)?.value ?? {})[0]

test('a turn with tools, a subagent, a call of MCP, one of a plugin and an external agent is one trace, below that of its caller', async () => {
  collector = await openCollector()
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  const { place } = scene
  place.configure(
    withModel(model.url, { permission: { '*': 'allow' }, mcp: { meta: { type: 'local', command: [process.execPath, META] } } }),
  )
  const told = `if (frame.method === 'tool.invoke') return send({ id: frame.id, result: { title: 'Done', output: String(frame.params.traceparent) } })`
  writePackage(place, PLUGIN, { files: { 'plugin.mjs': toolProgram('tell', '', told) } })
  const server = await scene.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
    OTEL_RESOURCE_ATTRIBUTES: 'team=tests',
    SVC_EXTERNAL_CODEX_COMMAND: JSON.stringify([process.execPath, AGENT, 'beside']),
    SVC_LOG: 'debug',
    SVC_AGENT_PERF_LOG: '1',
  })
  const stream = await server.stream({ tail: true })
  await server.get(`/v2/agents`)
  await approve(server, place, PLUGIN)
  await untilState(stream, PLUGIN, 'enabled')
  const session = await server.createSession()
  const headers = { traceparent: `00-${CALLER.trace}-${CALLER.span}-01`, 'content-type': 'application/json' }
  expect((await server.call('POST', `/v2/sessions/${session.id}/prompt`, { prompt: 'go' }, headers)).status).toBe(204)
  const asked = await stream.waitFor(({ type }) => type === 'permission.asked') // an agent of others is always asked about
  const { id } = asked.data as { id: string }
  expect((await server.call('POST', `/v2/interactions/permissions/${id}/reply`, { reply: 'once' })).status).toBeLessThan(300)
  await stream.idle(session.id)
  const outputs = toolParts(await server.messages(session.id)).map(({ tool, state }) => [
    tool,
    state.status === 'completed' ? state.output : JSON.stringify(state),
  ])
  await server.stop()
  await expect.poll(() => collector.spans().some(({ parentSpanId }) => parentSpanId === CALLER.span), { timeout: PATIENCE }).toBe(true)

  const spans = collector.spans()
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.trace]))
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const path = (span: OtlpSpan): string => {
    const parent = byId.get(span.parentSpanId ?? '')
    return parent === undefined ? span.name : `${path(parent)} > ${span.name}`
  }
  const paths = new Set(spans.map(path))
  const top = 'invoke_agent build'
  for (const wanted of [
    top,
    `${top} > chat scripted`,
    ...['bash', 'mcp__meta__meta', 'tell', 'task'].map((tool) => `${top} > execute_tool ${tool}`),
    `${top} > execute_tool task > invoke_agent general`,
    `${top} > execute_tool task > invoke_agent general > chat scripted`,
  ])
    expect([...paths]).toContain(wanted)
  expect([...paths].some((each) => /execute_tool task > invoke_agent \w+ > invoke_agent codex$/.test(each))).toBe(true)

  const of = (name: string) => spans.find((span) => span.name === name)
  expect(valueOf(of('chat scripted'), 'gen_ai.operation.name')).toBe('chat')
  expect(valueOf(of('execute_tool mcp__meta__meta'), 'mcp.method.name')).toBe('tools/call')
  expect(
    spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)).filter((key) => /messages|arguments|result/.test(key)),
  ).toEqual([])
  const parentTold = (name: string) => `00-${CALLER.trace}-${of(name)?.spanId}-01`
  expect(JSON.parse(outputs.find(([tool]) => tool === 'mcp__meta__meta')?.[1] ?? '{}')).toMatchObject({
    traceparent: parentTold('execute_tool mcp__meta__meta'),
  })
  expect(outputs.find(([tool]) => tool === 'tell')?.[1]).toBe(parentTold('execute_tool tell'))
  const heard = readFileSync(join(place.root, 'notes'), 'utf8').trim().split('\n')
  const prompted = heard
    .map((line) => JSON.parse(line) as { heard?: string; meta?: unknown })
    .find((each) => each.heard === 'session/prompt')
  expect(prompted?.meta).toMatchObject({ traceparent: parentTold('invoke_agent codex') })
  expect(model.requests[0]?.headers['traceparent']).toMatch(new RegExp(`^00-${CALLER.trace}-`))
  expect(collector.headers[0]).toMatchObject({ path: '/v1/traces', 'x-key': 'a key', 'content-type': 'application/json' })
  const resource = collector.requests[0]?.resourceSpans[0]?.resource.attributes.map(({ key, value }) => [key, Object.values(value)[0]])
  expect(resource).toContainEqual(['service.name', 'svc'])
  expect(resource).toContainEqual(['team', 'tests'])

  const lines = server
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const messages = lines.map(({ message }) => message)
  for (const message of ['starting', 'listening', 'stopping', 'stopped'])
    expect(messages.filter((each) => each === message)).toHaveLength(1)
  expect(lines.find(({ message, path: asked }) => message === 'answered' && String(asked).endsWith('/prompt'))).toMatchObject({
    level: 'debug',
    traceId: CALLER.trace,
  })
  expect(lines.filter(({ message }) => message === 'perf').map(({ what }) => what)).toEqual(expect.arrayContaining(['run', 'step', 'tool']))
  expect(lines.filter(({ message, what }) => message === 'perf' && what === 'tool').every(({ traceId }) => traceId === CALLER.trace)).toBe(
    true,
  )
})

test('a collector that is not there, and none at all, change nothing of a turn; metrics are read over HTTP by whoever has the token', async () => {
  collector = await openCollector()
  model = await startModelServer(() => reply(text('Hello.'), finish('stop')))
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  const server = await scene.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    SVC_AGENT_METRICS: '1',
    SVC_AGENT_TOKEN: 'the-token-of-this-test',
  })
  const headers = { authorization: 'Bearer the-token-of-this-test', 'content-type': 'application/json' }
  const created = await server.call('POST', '/v2/sessions', { title: 'one' }, headers)
  const { id } = created.body as { id: string }
  expect((await server.call('POST', `/v2/sessions/${id}/prompt`, { prompt: 'hi' }, headers)).status).toBe(204)
  await server.call('POST', `/v2/sessions/${id}/wait`, undefined, headers)
  expect((await fetch(`${server.url}/v2/metrics`)).status).toBe(401)
  const scraped = await server.call('GET', '/v2/metrics', undefined, headers)
  expect(scraped.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  const families = readOpenMetrics(scraped.text)
  expect(families.get('svc_runs')?.samples).toEqual([{ name: 'svc_runs_total', labels: { end: 'completed' }, value: 1 }])
  expect(families.get('svc_http_requests')?.samples.some(({ labels }) => labels['operation'] === 'v2.sessions.create')).toBe(true)
  expect((await server.stop()).code).toBe(0)
})
