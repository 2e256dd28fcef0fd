// Holds service.md "Authentication" 3 to 5; subsystems d.3, d.6: hosted use by a client that knows the published document and nothing of svc.
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

interface Parameter {
  readonly name: string
  readonly in: string
}
interface Operation {
  readonly operationId: string
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: object
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme: string }>>
  }
}
interface Said {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * What generators of clients make of a document: a function for each operation, with the bearer that its security scheme asks for. It throws
 * where the document does not know an operation or one of its parameters.
 */
async function clientOf(url: string, bearer: string) {
  const headers = { authorization: `Bearer ${bearer}` }
  const document = (await (await fetch(`${url}/v2/openapi.json`, { headers })).json()) as Document
  expect(Object.values(document.components.securitySchemes)).toContainEqual(expect.objectContaining({ type: 'http', scheme: 'bearer' }))
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [operation.operationId, { path, method, operation }] as const),
    ),
  )

  const parameterOf = (given: Parameter | { readonly $ref: string }) =>
    '$ref' in given ? document.components.parameters[given.$ref.split('/').at(-1) ?? ''] : given

  async function send(id: string, parameters: Readonly<Record<string, string>> = {}, body?: unknown): Promise<Response> {
    const known = operations.get(id)
    if (known === undefined) throw new Error(`the document has no operation ${id}`)
    const { path, method, operation } = known
    let address = path
    const query = new URLSearchParams()
    const sent: Record<string, string> = { ...headers }
    for (const [name, value] of Object.entries(parameters)) {
      const place = operation.parameters?.map(parameterOf).find((each) => each?.name.toLowerCase() === name.toLowerCase())?.in
      if (place === undefined) throw new Error(`${id} has no parameter ${name}`)
      if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value))
      if (place === 'query') query.set(name, value)
      if (place === 'header') sent[name] = value
    }
    if (body !== undefined && operation.requestBody === undefined) throw new Error(`${id} has no body`)
    if (body !== undefined) sent['content-type'] = 'application/json'
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    return fetch(`${url}${address}${query.size > 0 ? `?${query}` : ''}`, { method: method.toUpperCase(), headers: sent, ...content })
  }

  return {
    async call<T>(id: string, parameters?: Readonly<Record<string, string>>, body?: unknown): Promise<T> {
      const answer = await send(id, parameters, body)
      if (!answer.ok) throw Object.assign(new Error(`${id} answered ${answer.status}`), { status: answer.status, ...(await answer.json()) })
      return (answer.status === 204 ? undefined : await answer.json()) as T
    },
    /** Records as a parser of others reads them, until `isLast`. */
    async listen(id: string, parameters: Readonly<Record<string, string>>, isLast: (said: Said) => boolean): Promise<Said[]> {
      const answer = await send(id, parameters)
      const heard: Said[] = []
      const records = answer.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
      if (records === undefined) throw new Error(`${id} streams nothing`)
      for await (const { data } of records) {
        heard.push(JSON.parse(data) as Said)
        if (isLast(heard.at(-1) as Said)) break
      }
      return heard
    },
  }
}

let scene: Scene
let model: ModelServer
let url: string
const at = (name: string) => join(scene.place.root, name)
const folder = (name: string) => {
  mkdirSync(at(name), { recursive: true })
  return realpathSync(at(name))
}
beforeAll(async () => {
  model = await startModelServer(({ body }) =>
    body?.messages.at(-1)?.role === 'tool'
      ? reply(text('It ', 'is ', 'written.'), finish('stop'))
      : reply(
          ...toolCall({ index: 0, id: 'call_0', name: 'write', input: { filePath: 'made.txt', content: 'made\n' } }),
          finish('tool-calls'),
        ),
  )
  scene = openScene(makePlace())
  const tokens = [
    { token: 'token-a', tenantId: 'a', directoryPrefixes: [folder('of-a')], maxSessions: 2, maxInFlight: 8 },
    { token: 'token-b', tenantId: 'b', directoryPrefixes: [folder('of-b')] },
  ]
  writeFileSync(at('tokens.json'), JSON.stringify({ tokens }), { mode: 0o600 })
  scene.place.configure(
    withModel(model.url, { hosted: { providers: ['test'], execution: 'native' }, permission: { edit: 'ask', '*': 'allow' } }),
  )
  ;({ url } = await scene.start({ SVC_AGENT_AUTH_CONFIG: at('tokens.json'), SVC_AGENT_TOKEN: 'operator-token-1' }))
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

test('a bearer of the token file is all it needs: sessions below its prefix, a stream of events, a prompt, an answer to what is asked', async () => {
  const client = await clientOf(url, 'token-a')
  const directory = folder('of-a/project')
  const session = await client.call<{ id: string; directory: string }>('v2.sessions.create', { directory }, { title: 'Hosted' })
  expect(session.directory).toBe(directory)
  const answered: Promise<unknown>[] = []
  const hearing = client.listen('v2.events.subscribe', { sessionId: session.id, since: '0' }, ({ type, data }) => {
    if (type === 'permission.asked')
      answered.push(client.call('v2.interactions.permissions.reply', { request_id: String(data['id']) }, { reply: 'once' }))
    return type === 'session.execution.updated' && (data['snapshot'] as { finished: boolean }).finished
  })
  await client.call('v2.sessions.promptAsync', { session_id: session.id }, { prompt: 'make it' })
  const heard = await hearing
  await Promise.all(answered)
  expect(answered).toHaveLength(1)
  expect(readFileSync(join(directory, 'made.txt'), 'utf8')).toBe('made\n')
  expect(heard.map(({ type }) => type)).toEqual(expect.arrayContaining(['message.part.delta', 'permission.asked', 'permission.replied']))
  const context = JSON.stringify(await client.call('v2.sessions.context', { session_id: session.id }))
  expect(context).toContain('It is written.')
  const list = await client.call<{ items: { id: string }[] }>('v2.sessions.list', { directory })
  expect(list.items.map(({ id }) => id)).toEqual([session.id])

  await client.call('v2.sessions.create', { directory }, {})
  await expect(client.call('v2.sessions.create', { directory }, {})).rejects.toMatchObject({
    status: 429,
    code: 'quota.exceeded',
    retryable: true,
  })
})

test('what is not its own is refused as the document says: other directories, sessions of others, what configures the server, a wrong bearer', async () => {
  const [mine, theirs] = [await clientOf(url, 'token-b'), await clientOf(url, 'token-a')]
  const refused = (status: number, code: string) => expect.objectContaining({ status, code }) as object
  await expect(mine.call('v2.sessions.create', { directory: folder('of-a') }, {})).rejects.toEqual(refused(403, 'auth.directory_forbidden'))
  const { items } = await theirs.call<{ items: { id: string }[] }>('v2.sessions.list', { directory: folder('of-a/project') })
  const session_id = items[0]?.id ?? ''
  await expect(mine.call('v2.sessions.get', { session_id })).rejects.toEqual(refused(403, 'auth.session_forbidden'))
  await expect(mine.call('v2.sessions.promptAsync', { session_id }, { prompt: 'x' })).rejects.toEqual(
    refused(403, 'auth.session_forbidden'),
  )
  await expect(mine.call('v2.sessions.get', { session_id: 'ses_absent' })).rejects.toEqual(refused(404, 'resource.not_found'))
  await expect(mine.call('v2.config.get', { directory: folder('of-b') })).rejects.toEqual(refused(403, 'auth.hosted_route_forbidden'))
  expect((await mine.call<{ items: object[] }>('v2.sessions.list', { directory: folder('of-b') })).items).toEqual([])
  expect((await fetch(`${url}/v2/sessions`, { headers: { authorization: 'Bearer token-c' } })).status).toBe(401)
})
