/** Stands in for a worker in bench/hosting.mjs: it says who it is, answers a small question, and streams deltas that tell when they were sent. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const TICK = 20
const at = process.argv.indexOf('--worker-bootstrap')
const worker = at < 0 ? {} : JSON.parse(readFileSync(process.argv[at + 1], 'utf8'))
const port = Number(process.argv[process.argv.indexOf('--port') + 1])
const ANSWERS = {
  '/v2/health': { healthy: true },
  '/v2/runtime': { deployment: 'workspace-worker', executionAvailable: true, worker },
  '/v2/execution-activity': [],
  '/v2/sessions/one': { id: 'one', title: 'x'.repeat(1000) },
}
const streams = new Set()

const server = createServer({ noDelay: true }, (request, response) => {
  const path = request.url.split('?')[0]
  if (path === '/v2/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    streams.add(response)
    return response.once('close', () => streams.delete(response))
  }
  const body = ANSWERS[path]
  // Without a credential, as a worker does.
  const status = body === undefined ? 404 : path === '/v2/runtime' && request.headers.authorization === undefined ? 401 : 200
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
})
server.listen(port, '127.0.0.1', () => console.log(`svc agent listening on http://127.0.0.1:${server.address().port}`))
setInterval(() => {
  for (const stream of streams)
    stream.write(`data: {"type":"message.part.delta","sent":"${process.hrtime.bigint()}","text":"${'y'.repeat(60)}"}\n\n`)
}, TICK)
process.once('SIGTERM', () => process.exit(0))
