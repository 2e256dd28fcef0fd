// Holds plugin-protocol §1, §15.2; choice 27.
/**
 * Ten plugins of kinds that people write, as they are handed to others: each passes its own test and is packed, the file is added to a fresh home and approved there,
 * and it is used once on a real server. What is seen is what its kind is for.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { lacking } from '../../fakes/machine.js'
import { bytes, finish, type ModelServer, reply, type Script, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { configurePlugin, lifecycleOf } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { textOf, toolParts } from '../server/transcript.js'

const EXAMPLES = fileURLToPath(new URL('../../../examples/plugins', import.meta.url))
const NO_PYTHON = lacking('python3')
const OFFLINE = { providerId: 'svc', modelId: 'offline' }

let scene: Scene
const closers: (() => Promise<unknown>)[] = []
beforeEach(() => {
  scene = openScene(makePlace({ 'README.md': '# Hello\n', 'src/greet.ts': 'export function greet(name: string) {}\n' }))
  scene.place.configure({})
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await scene.close()
})

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function svc(args: readonly string[], input = ''): Promise<Ended> {
  const { repo, env } = scene.place
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, ...args], { cwd: repo, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

async function succeeds(args: readonly string[], input?: string): Promise<Ended> {
  const ended = await svc(args, input)
  if (ended.code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${ended.code}: ${ended.stdout}${ended.stderr}`)
  return ended
}

/** Packs an example, adds the file and approves it; answers its id. `replaced`: what stands in its files for something of this test. */
async function bring(example: string, replaced: readonly (readonly [from: string, to: string])[] = []): Promise<string> {
  const folder = join(scene.place.root, example)
  cpSync(join(EXAMPLES, example), folder, { recursive: true })
  for (const name of ['svc-plugin.json', 'agent.lua'])
    for (const [from, to] of replaced) {
      const file = join(folder, 'package', name)
      if (existsSync(file)) writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to))
    }
  const own = await succeeds(['plugin', 'test', folder]) // builds it
  expect([own.stderr, own.stdout]).toEqual(['', expect.stringMatching(/: (\d+) of \1 checks passed\n$/)])
  const packed = JSON.parse(
    (await succeeds(['plugin', 'pack', folder, '--output', join(scene.place.root, 'packed.tgz'), '--json'])).stdout,
  ) as {
    id: string
    file: string
    revision: string
  }
  cpSync(packed.file, join(scene.place.root, 'given.tgz'))
  const added = await succeeds(['plugin', 'add', join(scene.place.root, 'given.tgz')])
  expect(added.stdout).toContain(`added ${packed.id} ${packed.revision}`)
  await succeeds(['plugin', 'trust', packed.id, '--yes'])
  return packed.id
}

/** Options of the installation, beside the approval. */
function option(id: string, options: object): void {
  configurePlugin(scene.place, id, (entry) => ({ ...entry, options: { ...(entry['options'] as object), ...options } }))
}

/** A server on which the plugin is active. */
async function serve(id: string): Promise<Server> {
  const server = await scene.start()
  await expect.poll(async () => (await lifecycleOf(server, id))?.state).toBe('active')
  return server
}

async function startModel(script: Script, rest: object = {}, more: object = {}): Promise<ModelServer> {
  const model = await startModelServer(script)
  closers.push(() => model.close())
  const known = JSON.parse(readFileSync(scene.place.configFile, 'utf8')) as object
  scene.place.configure(withModel(model.url, { ...known, ...rest }, more))
  return model
}

async function listen(listener: (request: IncomingMessage, body: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => listener(request, body, response))
  }).listen(0, '127.0.0.1')
  closers.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function say(server: Server, prompt: string, model?: object, session?: string): Promise<string> {
  const id = session ?? (await server.createSession()).id
  await server.prompt(id, { prompt, ...(model !== undefined && { model }) })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return id
}

/** A session in which a prompt played these steps. */
async function play(server: Server, ...steps: readonly object[]): Promise<string> {
  return say(server, `\`\`\`svc-script\n${steps.map((step) => JSON.stringify(step)).join('\n')}\n\`\`\``, OFFLINE)
}

async function callsIn(server: Server, session: string): Promise<ToolPart['state'][]> {
  return toolParts(await server.messages(session)).map(({ state }) => state)
}

describe('packed, added to a fresh home and approved', () => {
  test('a formatter: what the agent writes is formatted, and what is no JSON is not written', async () => {
    const server = await serve(await bring('json-formatter'))
    const played = await play(
      server,
      { tool: 'write', input: { filePath: 'a.json', content: '{"b":[1,2]}' } },
      { text: 'next' },
      { tool: 'write', input: { filePath: 'b.json', content: '{' } },
    )
    const states = await callsIn(server, played)
    expect(scene.place.read('a.json')).toBe('{\n  "b": [\n    1,\n    2\n  ]\n}\n')
    expect(states).toMatchObject([
      { status: 'completed' },
      { status: 'error', error: expect.stringContaining('b.json would be no JSON') as string },
    ])
    expect(existsSync(join(scene.place.repo, 'b.json'))).toBe(false)
  })

  test('a cost guard: a session that has cost more than its budget runs no further tool', async () => {
    const id = await bring('cost-guard')
    const call = reply(toolCall({ id: 'c', name: 'bash', input: { command: 'echo ran', description: 'says it' } }), finish('tool_calls'))
    const script = [call, reply(text('It ran.'), finish('stop')), call, reply(text('I stop.'), finish('stop'))]
    await startModel(script, { permission: { '*': 'allow' } }, { cost: { input: 4000, output: 0 } })
    option(id, { config: { dollars: 0.5 } })
    const server = await serve(id)
    const session = await say(server, 'begin')
    await say(server, 'go on', undefined, session)
    expect(toolParts(await server.messages(session)).map(({ state }) => state)).toMatchObject([
      { status: 'completed', output: expect.stringContaining('ran') as string },
      { status: 'error', error: expect.stringMatching(/has cost \$\d\.\d\d, more than its budget of \$0\.50/) as string },
    ])
  })

  test('a notifier: whoever is away hears that an agent asks', async () => {
    let hear: (line: string) => void = () => undefined
    const heard = new Promise<string>((resolve) => (hear = resolve))
    const host = await listen((_request, body, response) => {
      response.end('ok')
      hear(body)
    })
    const id = await bring('notifier')
    option(id, { config: { url: `http://${host}/topic` } })
    scene.place.configure({ ...(JSON.parse(readFileSync(scene.place.configFile, 'utf8')) as object), permission: { bash: 'ask' } })
    const server = await serve(id)
    const session = await server.createSession()
    await server.prompt(
      session.id,
      {
        prompt: '```svc-script\n{"tool": "bash", "input": {"command": "touch me", "description": "touches"}}\n{"text": "Done."}\n```',
        model: OFFLINE,
      },
      'prompt-async',
    )
    expect(await heard).toMatch(/^an agent asks: .*\S/)
    await server.call('POST', `/v2/sessions/${session.id}/abort`)
    await server.call('POST', `/v2/sessions/${session.id}/wait`)
  })

  test('a rewriter of prompts: the model reads the sentence, and the transcript keeps the abbreviation', async () => {
    const id = await bring('prompt-rewriter')
    const model = await startModel([reply(text('Short.'), finish('stop'))])
    const server = await serve(id)
    const session = await say(server, 'What is this? !brief')
    expect(model.requests[0]?.body?.messages.at(-1)).toMatchObject({ content: 'What is this? Answer in three sentences at most.' })
    expect(textOf((await server.messages(session))[0])).toBe('What is this? !brief')
  })

  test.skipIf(NO_PYTHON !== '')(`a data tool in Python: a table is summed up, with a file beside the answer${NO_PYTHON}`, async () => {
    const id = await bring('csv-summary')
    scene.place.write('sales.csv', 'town,price\nRome,2\nOslo,4.5\n')
    const server = await serve(id)
    const states = await callsIn(server, await play(server, { tool: 'csv_summary', input: { path: 'sales.csv' } }))
    expect(states).toMatchObject([
      {
        status: 'completed',
        output: expect.stringContaining('- price: empty 0, distinct 2, least 2.0, most 4.5, mean 3.25') as string,
        metadata: { rows: 2, columns: 2, attachments: [{ type: 'file', mime: 'application/json', filename: 'summary.json' }] },
      },
    ])
  })

  test('an issue tracker: it is asked with the token, which neither the model nor the transcript sees', async () => {
    const seen: (readonly [string, string, string])[] = []
    const host = await listen((request, body, response) => {
      seen.push([`${request.method} ${request.url}`, request.headers.authorization ?? '', body])
      const issue = { number: 8, title: 'Broken', state: 'open', html_url: 'https://tracker.example/8' }
      response.end(JSON.stringify(request.method === 'GET' ? [issue] : issue))
    })
    const id = await bring('issue-tracker', [
      ['https://api.github.com', `http://${host}`],
      ['api.github.com', host],
    ])
    option(id, { hosts: [host] })
    const server = await serve(id)
    const missing = await callsIn(server, await play(server, { tool: 'list_issues', input: { repository: 'ada/engine' } }))
    expect(missing).toMatchObject([{ status: 'error', error: expect.stringMatching(/the secret "token" has no value/) as string }])
    expect(seen).toEqual([])

    await succeeds(['plugin', 'configure', id, '--set', 'token'], 'a-token-of-the-tracker')
    const played = await play(
      server,
      { tool: 'list_issues', input: { repository: 'ada/engine' } },
      { text: 'next' },
      { tool: 'open_issue', input: { repository: 'ada/engine', title: 'Broken', text: 'It "fell".\nDown.' } },
    )
    const states = await callsIn(server, played)
    expect(states).toMatchObject([
      { status: 'completed', output: '#8 Broken (open)' },
      { status: 'completed', output: 'Opened #8: https://tracker.example/8' },
    ])
    expect(seen).toEqual([
      ['GET /repos/ada/engine/issues?state=open&per_page=20', 'Bearer a-token-of-the-tracker', ''],
      [
        'POST /repos/ada/engine/issues',
        'Bearer a-token-of-the-tracker',
        JSON.stringify({ body: 'It "fell".\nDown.', title: 'Broken' }).replaceAll('\\"', '\\u0022').replaceAll('\\n', '\\u000a'),
      ],
    ])
    expect(JSON.stringify(await server.messages(played))).not.toContain('a-token')
  })

  test.skipIf(NO_PYTHON !== '')(`a route over a database: a page asks, and changes nothing${NO_PYTHON}`, async () => {
    const id = await bring('sqlite-route')
    const { host } = JSON.parse(readFileSync(join(EXAMPLES, 'sqlite-route/svc-plugin.test.json'), 'utf8')) as {
      host: Record<string, { $base64: string }>
    }
    const database = Buffer.from(host['host.workspace.read']?.$base64 ?? '', 'base64')
    writeFileSync(join(scene.place.repo, 'town.db'), database)
    const server = await serve(id)
    const at = `/v2/plugins/${id}`
    expect(await server.get(`${at}/tables?database=town.db`)).toMatchObject({ tables: [{ name: 'town' }] })
    const ask = (sql: string) => server.call('POST', `${at}/rows`, { database: 'town.db', sql, parameters: [] })
    expect(await ask('select name from town order by people desc')).toMatchObject({
      status: 200,
      body: { columns: ['name'], rows: [['Far'], ['Rome'], ['Oslo']], more: false },
    })
    expect(await ask('drop table town')).toMatchObject({ status: 400, body: { message: 'not authorized' } })
    expect(readFileSync(join(scene.place.repo, 'town.db')).equals(database)).toBe(true)
  })

  test('a provider of models: somebody signs in with a code, and the models answer them, with tools', async () => {
    const polled: (string | null)[] = []
    const chats: { readonly authorization: string; readonly messages: readonly object[] }[] = []
    const host = await listen((request, body, response) => {
      const json = (value: object) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      if (request.url === '/device/code')
        return json({ device_code: 'device-1', user_code: 'ADA-1', verification_uri: 'https://gateway.example/enter', interval: 0 })
      if (request.url === '/token') {
        polled.push(new URLSearchParams(body).get('device_code'))
        return json(polled.length === 1 ? { error: 'authorization_pending' } : { access_token: 'given-to-ada' })
      }
      const { messages } = JSON.parse(body) as { messages: object[] }
      chats.push({ authorization: request.headers.authorization ?? '', messages })
      const said =
        chats.length === 1 ? toolCall({ id: 'c', name: 'read', input: { filePath: 'README.md' }, pieces: 3 }) : text('It says', ' hello.')
      const steps = reply(said, bytes(': a comment\n\n'), finish(chats.length === 1 ? 'tool_calls' : 'stop')).steps ?? []
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(
        steps
          .map((step) => (step.type === 'event' ? `data: ${JSON.stringify(step.data)}\n\n` : step.type === 'bytes' ? step.text : ''))
          .join(''),
      )
    })
    const id = await bring('team-models')
    option(id, { config: { url: `http://${host}` } })
    const server = await serve(id)
    const known = { providerId: 'team', modelId: 'small' }
    const stranger = await server.messages(await say(server, 'hello', known))
    expect(JSON.stringify(stranger)).toContain('sign in at the provider')
    expect(chats).toEqual([])

    expect((await server.get<Record<string, unknown>>('/v2/providers/auth-methods'))['team']).toMatchObject([{ type: 'oauth' }])
    const query = `?workspaceId=${encodeURIComponent(scene.place.repo)}`
    const begun = await server.call('POST', `/v2/providers/team/oauth/authorize${query}`, { method: 0 })
    expect(begun.body).toMatchObject({ url: 'https://gateway.example/enter', method: 'auto', instructions: 'Enter the code ADA-1' })
    const { attemptId } = begun.body as { attemptId: string }
    expect(await server.call('POST', `/v2/providers/team/oauth/callback${query}`, { method: 0, attemptId })).toMatchObject({
      status: 200,
      body: true,
    })

    expect(polled).toEqual(['device-1', 'device-1'])

    const session = await say(server, 'What does it say?', known)
    expect(textOf((await server.messages(session)).at(-1))).toContain('It says hello.')
    expect(toolParts(await server.messages(session))).toMatchObject([{ tool: 'read', state: { status: 'completed' } }])
    expect(chats.map(({ authorization }) => authorization)).toEqual(['Bearer given-to-ada', 'Bearer given-to-ada'])
    expect(chats[1]?.messages.slice(-2)).toMatchObject([
      {
        role: 'assistant',
        tool_calls: [{ id: expect.any(String) as string, function: { name: 'read', arguments: '{"filePath":"README.md"}' } }],
      },
      { role: 'tool', content: expect.stringContaining('# Hello') as string },
    ])
  })

  test('a search through code: the model is told what there is, and finds it', async () => {
    const id = await bring('code-search')
    const model = await startModel([
      reply(toolCall({ id: 'c', name: 'find_declaration', input: { name: 'greet' } }), finish('tool_calls')),
      reply(text('Found.'), finish('stop')),
    ])
    const server = await serve(id)
    const session = await say(server, 'Where is greet?')
    expect(toolParts(await server.messages(session))).toMatchObject([
      { state: { status: 'completed', output: 'src/greet.ts:1: export function greet(name: string) {}' } },
    ])
    const [first] = model.requests
    expect(first?.body?.tools?.map(({ function: { name } }) => name)).toContain('find_declaration')
    expect(JSON.stringify(first?.body?.messages)).toContain('1 declarations in 1 files; find_declaration says where. By folder:\\n- src: 1')
  })

  test('a bridge for MCP: another program connects, and reads the workspace', async () => {
    const id = await bring('mcp-bridge')
    const server = await serve(id)
    const client = new Client({ name: 'an-editor', version: '1.0.0' })
    closers.push(() => client.close())
    const address = new URL(`${server.url}/v2/plugins/${id}/mcp?directory=${encodeURIComponent(scene.place.repo)}`)
    await client.connect(new StreamableHTTPClientTransport(address))
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['list_files', 'read_file'])
    expect(await client.callTool({ name: 'list_files', arguments: {} })).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('README.md\nsrc') as string }],
    })
    expect(await client.callTool({ name: 'read_file', arguments: { path: 'README.md' } })).toMatchObject({
      content: [{ type: 'text', text: '# Hello\n' }],
    })
    expect(await client.callTool({ name: 'read_file', arguments: { path: '../state/auth.json' } })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('contains ".."') as string }],
    })
  })
})
