/** The built program behind a proxy, and in front of a server whose certificate a private authority signed. */
import { readFileSync } from 'node:fs'
import { lookup } from 'node:dns/promises'
import { createServer } from 'node:https'
import { request } from 'node:http'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startForwardProxy } from '../../fixtures/forward-proxy.js'
import { finish, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'
import { textOf } from '../server/transcript.js'

const tls = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

/** A scripted model, also over TLS, and a proxy that alone knows the name `model.test`. */
async function open() {
  const model = await startModelServer(() => reply(text('Hello', ' there.'), finish('stop')))
  const port = Number(new URL(model.url).port)
  const secure = createServer({ key: readFileSync(tls('server.key')), cert: readFileSync(tls('server.pem')) }, (incoming, outgoing) => {
    const { url: path, method, headers } = incoming
    incoming.pipe(
      request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      }),
    )
  })
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
  const address = secure.address()
  const securePort = typeof address === 'object' && address !== null ? address.port : 0
  const proxy = await startForwardProxy({ 'model.test:443': securePort, 'model.test:80': port, [`${hostname()}:${port}`]: port })
  closing.push(
    () => model.close(),
    () =>
      new Promise((resolve) => {
        secure.closeAllConnections()
        secure.close(resolve)
      }),
    () => proxy.close(),
  )
  return { model, port, securePort, proxy }
}

/** A provider for each address, by name. */
function withModels(addresses: Readonly<Record<string, string>>): object {
  const models = { scripted: { name: 'Scripted', limit: { context: 100_000, output: 4000 } } }
  const one = (baseURL: string) => ({ npm: '@ai-sdk/openai-compatible', auth: 'none', options: { baseURL }, models })
  return { provider: Object.fromEntries(Object.entries(addresses).map(([id, baseURL]) => [id, one(baseURL)])) }
}

/** What a session answers whose model is that of one provider. */
async function turn(server: Server, providerId: string): Promise<string> {
  const stream = await server.stream({ tail: true })
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'Hello.', model: { providerId, modelId: 'scripted' } })
  await stream.idle(id)
  stream.close()
  return textOf((await server.messages(id)).at(-1))
}

/** A provider for each way, one by the name of this machine; and what a server is started with to go through the proxy. */
async function begin() {
  const { port, securePort, proxy } = await open()
  const scene = openScene(makePlace())
  closing.push(() => scene.close())
  const named = `http://${hostname()}:${port}/v1`
  scene.place.configure(
    withModels({
      tunnelled: 'https://model.test/v1',
      forwarded: 'http://model.test/v1',
      local: `https://127.0.0.1:${securePort}/v1`,
      named,
    }),
  )
  return { proxy, scene, named, env: { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: tls('ca.pem') } }
}

test('a turn works through a proxy, and to a server of a private authority', async () => {
  const { proxy, scene, named, env } = await begin()
  const behind = await scene.start(env)
  expect(await turn(behind, 'tunnelled')).toBe('Hello there.')
  expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT model.test:443']))

  const tunnelled = proxy.asked.length
  expect(await turn(behind, 'forwarded')).toBe('Hello there.')
  expect(new Set(proxy.asked.slice(tunnelled))).toEqual(new Set(['POST http://model.test/v1/chat/completions']))

  const forwarded = proxy.asked.length
  expect(await turn(behind, 'local')).toBe('Hello there.')
  expect(proxy.asked).toHaveLength(forwarded)

  expect(await turn(behind, 'named')).toBe('Hello there.')
  expect(proxy.asked.slice(forwarded)).toEqual([`POST ${named}/chat/completions`])
})

/** Nobody is reached directly by a name that leads nowhere. */
const NO_NAME = await lookup(hostname()).then(
  () => '',
  () => ' (skipped: the name of this machine leads nowhere)',
)
test.skipIf(NO_NAME !== '')(`a turn works past the proxy with NO_PROXY${NO_NAME}`, async () => {
  const { proxy, scene, env } = await begin()
  const past = await scene.start({ ...env, NO_PROXY: hostname() })
  expect(await turn(past, 'named')).toBe('Hello there.')
  expect(proxy.asked).toEqual([])
  expect(await turn(past, 'forwarded')).toBe('Hello there.')
  expect(new Set(proxy.asked)).toEqual(new Set(['POST http://model.test/v1/chat/completions']))
})
