/** A server that says back what it was sent: nobody is told, and nothing of it is kept. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createSecrets, withHiddenSecrets } from '../../../src/plugins/mcp/link/secrets.js'
import { mcpRoutes } from '../../../src/protocol/mcp/mcp.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { openMcp } from './fixture.js'

const SECRET = 'planted-secret-value'

/** Answers `initialize`, and then in the way that is asked for with all the headers it was sent. */
async function startEcho(how: 'status' | 'error' | 'result' | 'fatal'): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string }
      if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end()
      const json = (value: object) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...value }))
      const echo = `you sent ${JSON.stringify(request.headers)} and ${encodeURIComponent(SECRET)}`
      if (how === 'fatal') return response.writeHead(403).end(echo)
      if (method === 'initialize')
        return json({ result: { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } } })
      if (method === 'tools/list') return json({ result: { tools: [{ name: 'act', inputSchema: { type: 'object' } }] } })
      if (how === 'status') return response.writeHead(500).end(echo)
      if (how === 'error') return json({ error: { code: -32000, message: echo } })
      return json({ result: { isError: true, content: [{ type: 'text', text: echo }] } })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

test.each(['status', 'error', 'result', 'fatal'] as const)('what a server echoes (%s) is told without the credential', async (how) => {
  const url = await startEcho(how)
  const mcp = openMcp({
    s: { type: 'remote', url, oauth: false, headers: { Authorization: `Bearer ${SECRET}`, 'X-Api-Key': `${SECRET}-2` } },
  })
  await mcp.prepare()
  const answer = how === 'fatal' ? await mcp.operation(mcpRoutes.status.id) : await mcp.call('mcp__s__act').catch((error: unknown) => error)
  const told = answer instanceof Error ? answer.message : JSON.stringify(answer)
  expect(told).toContain('you sent')
  expect(told).toContain('[redacted]')
  expect(`${told} ${JSON.stringify(mcp.effects.logs)}`).not.toContain(SECRET)
})

test('every credential of a request is hidden in refusals, headers and the log; other answers stay as they are', async () => {
  const sent = {
    code: 'code-of-a-person',
    refresh_token: 'token+that/renews',
    client_secret: 'shh-client-secret',
    code_verifier: 'verifier-verifier',
  }
  const basic = `Basic ${btoa(`client:${encodeURIComponent('pass word!')}`)}`
  const echo = `${Object.values(sent).join(' ')} pass word! ${basic}`
  const answers = [
    new Response(echo, { status: 400, headers: { 'www-authenticate': `Bearer error_description="${sent.code}"` } }),
    new Response(echo, { status: 200 }),
  ]
  const made = createFakeEffects({ fetch: () => Promise.resolve(answers.shift() ?? new Response()) })
  const effects = withHiddenSecrets(made, createSecrets())
  const ask = () =>
    effects.fetch('https://as.example/token', {
      method: 'POST',
      headers: { authorization: basic },
      body: new URLSearchParams(sent).toString(),
    })
  const refused = await ask()
  const text = `${await refused.text()} ${refused.headers.get('www-authenticate')}`
  for (const secret of [...Object.values(sent), 'pass word!', basic]) expect(text).not.toContain(secret)
  expect(await (await ask()).text()).toBe(echo)
  effects.log.warn('told', { cause: echo })
  expect(JSON.stringify(made.logs)).not.toContain(sent.code)
})
