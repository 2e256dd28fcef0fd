// Holds http-contract §5.10; choice 27.
/**
 * Real servers of the Model Context Protocol in one conversation: three over the streams of a program, and one of them over HTTP as well. Tools,
 * pictures, questions, resources, prompts, progress, abort, and lists that change.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message, ToolPart } from '../../../src/protocol/message/message.js'
import type { QuestionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { McpCatalogEntry, McpPrompt, McpResource, McpStatusMap, McpTool, McpToolCallResult } from '../../../src/protocol/mcp/mcp.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { type EverythingServer, startEverything } from '../../fixtures/everything-server.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'

const { resolve } = createRequire(import.meta.url)
const PREFIX = '/v2/plugins/dev.svc.mcp'
const program = (name: string, file = 'dist/index.js') =>
  resolve(`@modelcontextprotocol/${name}/package.json`).replace('package.json', file)

let scene: Scene
let model: ModelServer
let web: EverythingServer
let server: Server
let stream: Stream
let session: Session
const offered: string[][] = []

/** Calls what the last message of the user names: `call <tool> <input as JSON>`. */
function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  offered.push((body?.tools ?? []).map(({ function: { name } }) => name))
  const last = body?.messages.at(-1)
  const asked = typeof last?.['content'] === 'string' ? last['content'] : JSON.stringify(last?.['content'] ?? '').replaceAll('\\"', '"')
  const [, name, input] = last?.role === 'user' ? (/call (\w\S*) (\{.*\})/.exec(asked) ?? []) : []
  if (name === undefined || input === undefined) return reply(text('Done.'), finish('stop'))
  return reply(...toolCall({ id: `call_${offered.length}`, name, input: JSON.parse(input) as object }), finish('tool-calls'))
}

beforeAll(async () => {
  web = await startEverything()
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  const { repo } = scene.place
  scene.place.configure(
    withModel(model.url, {
      permission: { '*': 'allow', mcp_sampling: 'ask' },
      mcp: {
        everything: { type: 'local', command: [process.execPath, program('server-everything')], args: ['stdio'], sampling: true },
        files: { type: 'local', command: [process.execPath, program('server-filesystem')], args: [repo] },
        memory: {
          type: 'local',
          command: [process.execPath, program('server-memory')],
          environment: { MEMORY_FILE_PATH: `${scene.place.root}/memory.json` },
        },
        web: { type: 'remote', url: `${web.origin}/mcp`, sampling: { maxTokens: 50 } },
        off: { type: 'local', command: 'nothing', enabled: false },
      },
    }),
  )
  server = await scene.start({ MY_SECRET: 'not for servers' })
  stream = await server.stream({ tail: true })
  session = await server.createSession()
})
afterAll(async () => {
  await scene.close()
  await model.close()
  await web.close()
})

/** What `svc` prints. */
function svc(args: readonly string[]): Promise<string> {
  return new Promise((done, fail) => {
    execFile(process.execPath, [PROGRAM, ...args], { env: { ...scene.place.env }, cwd: scene.place.root }, (error, stdout) =>
      error === null ? done(stdout) : fail(error),
    )
  })
}

/** The last call of a prompt that was answered. */
async function ask(body: object): Promise<ToolPart> {
  const from = stream.events.length
  await server.prompt(session.id, body)
  await stream.idle(session.id, from)
  const messages: Message[] = await server.messages(session.id)
  const parts = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'))
  const part = parts.at(-1)
  if (part === undefined) throw new Error('no tool was called')
  return part
}

test('asking how servers are starts none of them', async () => {
  const status = await server.get<McpStatusMap>(PREFIX)
  expect(status).toEqual({
    everything: { status: 'failed', error: 'not connected yet' },
    files: { status: 'failed', error: 'not connected yet' },
    memory: { status: 'failed', error: 'not connected yet' },
    off: { status: 'disabled' },
    web: { status: 'needs_auth' }, // people could sign in there, and nobody has
  })
})

test('tools of three servers are offered by names of their own, and called', async () => {
  const echo = await ask({ prompt: 'call mcp__everything__echo {"message": "héllo"}' })
  expect(echo.state).toMatchObject({ status: 'completed', output: 'Echo: héllo' })
  expect(offered.at(-1)).toEqual(
    expect.arrayContaining(['mcp__everything__echo', 'mcp__files__read_text_file', 'mcp__memory__read_graph', 'mcp_resource']),
  )
  const read = await ask({ prompt: `call mcp__files__read_text_file {"path": "${scene.place.repo}/README.md"}` })
  expect(read.state).toMatchObject({ status: 'completed', output: 'hello\n' })
  const graph = await ask({
    prompt: 'call mcp__memory__create_entities {"entities": [{"name": "svc", "entityType": "program", "observations": ["runs"]}]}',
  })
  expect(graph.state).toMatchObject({ status: 'completed', output: expect.stringContaining('"svc"') })
})

test('a server sees the workspace as its root, and no variable that is not meant for it', async () => {
  const roots = await ask({ prompt: 'call mcp__everything__get-roots-list {}' })
  expect(roots.state).toMatchObject({ status: 'completed', output: expect.stringContaining(`file://${scene.place.repo}`) })
  const env = await ask({ prompt: 'call mcp__everything__get-env {}' })
  const output = env.state.status === 'completed' ? env.state.output : ''
  expect(output).toContain('"PATH"')
  expect(output).not.toMatch(/SVC_(?!PROCESS_MARK)|SECRET/)
})

describe.each(['everything', 'web'])('the reference server, as "%s"', (name) => {
  test('a picture is attached, and structured content and links are shown', async () => {
    const picture = await ask({ prompt: `call mcp__${name}__get-tiny-image {}` })
    expect(picture.state).toMatchObject({ status: 'completed', metadata: { attachments: [{ type: 'file', mime: 'image/png' }] } })
    const weather = await ask({ prompt: `call mcp__${name}__get-structured-content {"location": "New York"}` })
    expect(weather.state).toMatchObject({ status: 'completed', metadata: { mcp: { structuredContent: { temperature: 33 } } } })
    const links = await ask({ prompt: `call mcp__${name}__get-resource-links {"count": 2}` })
    expect(links.state).toMatchObject({ status: 'completed', output: expect.stringContaining('[resource ') })
    const wrong = await ask({ prompt: `call mcp__${name}__get-sum {"a": "one"}` })
    expect(wrong.state).toMatchObject({ status: 'error' })
  })

  test('what a server asks is a question to the person', async () => {
    const from = stream.events.length
    const answered = ask({ prompt: `call mcp__${name}__trigger-elicitation-request {}` })
    const asked = await stream.waitFor((event) => event.type === 'question.asked', from)
    const request = asked.data as QuestionRequest
    expect(request.questions[0]).toMatchObject({ header: 'String', question: expect.stringContaining(`The MCP server "${name}" asks`) })
    const answers = request.questions.map((_, index) => (index === 0 ? ['Ada'] : index === 1 ? ['Yes'] : []))
    expect((await server.call('POST', `/v2/interactions/questions/${request.id}/reply`, { answers })).status).toBe(200)
    const { state } = await answered
    expect(state).toMatchObject({ status: 'completed', output: expect.stringContaining('Name: Ada') })
    expect(state).toMatchObject({ output: expect.stringContaining('"integer": 42') })
  })

  test('what a server asks the model is asked when the person allows it, within its bounds and without tools', async () => {
    const sample = async (answer: string) => {
      const from = stream.events.length
      const answered = ask({ prompt: `call mcp__${name}__trigger-sampling-request {"prompt": "Say hi.", "maxTokens": 100000}` })
      const asked = await stream.waitFor((event) => event.type === 'question.asked', from)
      const request = asked.data as QuestionRequest
      expect(request.questions[0]).toMatchObject({ header: name, question: expect.stringContaining('context: Say hi.') })
      await server.call('POST', `/v2/interactions/questions/${request.id}/reply`, { answers: [[answer]] })
      return (await answered).state
    }
    expect(await sample('Allow')).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('"text": "Done."'),
      metadata: { mcp: { sampling: { requests: 1 } } },
    })
    const body = model.requests.findLast((request) => request.body?.tools === undefined)?.body
    expect(body?.messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(body?.['max_tokens']).toBe(name === 'web' ? 50 : 4000) // what the configuration says, or what the model can do
    const count = model.requests.length
    expect(await sample('Decline')).toMatchObject({ status: 'error' })
    expect(model.requests.length - count).toBe(2) // the call, and what follows it
  })

  test('resources are attached to prompts, and prompts are commands', async () => {
    const resources = await server.get<McpResource[]>(`${PREFIX}/${name}/resources`)
    const [resource] = resources
    expect(resource).toMatchObject({ client: name })
    const uri = resource?.uri ?? ''
    const read = await ask({
      parts: [
        { type: 'text', text: 'Look at this.' },
        { type: 'file', mime: 'text/plain', filename: 'resource', url: `mcp:${name}/${uri}` },
      ],
    })
    expect(read).toMatchObject({ tool: 'mcp_resource', state: { status: 'completed', input: { server: name, uri } } })
    const prompts = await server.get<McpPrompt[]>(`${PREFIX}/${name}/prompts`)
    expect(prompts.map(({ name }) => name)).toContain('args-prompt')
    const from = stream.events.length
    await server.prompt(session.id, { prompt: `/mcp__${name}__args-prompt Boston state=MA` })
    await stream.idle(session.id, from)
    const messages = await server.messages(session.id)
    const said = messages.findLast(({ info }) => info.role === 'user')?.parts
    expect(said).toMatchObject([{ type: 'text', text: "What's weather in Boston, MA?" }])
  })

  test('lists that change are read anew, and what is new in them is used', async () => {
    const uris = async () => (await server.get<McpResource[]>(`${PREFIX}/${name}/resources`)).map(({ uri }) => uri)
    const before = await uris()
    const made = await ask({ prompt: `call mcp__${name}__gzip-file-as-resource {"name": "fresh.gz", "data": "data:text/plain,hello"}` })
    expect(made.state).toMatchObject({ status: 'completed', output: expect.stringContaining('fresh.gz') })
    await expect.poll(uris).toHaveLength(before.length + 1)
    const uri = (await uris()).find((each) => !before.includes(each))
    const read = await ask({ prompt: `call mcp_resource {"server": "${name}", "uri": "${uri}"}` })
    expect(read.state).toMatchObject({ status: 'completed', metadata: { attachments: [{ mime: 'application/gzip' }] } })
  })

  test('a call shows its progress, and an abort cancels it', async () => {
    const from = stream.events.length
    await server.prompt(session.id, { prompt: `call mcp__${name}__trigger-long-running-operation {"duration": 60, "steps": 600}` })
    await stream.waitFor((event) => event.type === 'message.part.updated' && JSON.stringify(event.data.part).includes('"progress":1'), from)
    expect((await server.call('POST', `/v2/sessions/${session.id}/abort`)).status).toBe(200)
    await stream.idle(session.id, from)
    const echo = await ask({ prompt: `call mcp__${name}__echo {"message": "still there"}` })
    expect(echo.state).toMatchObject({ output: 'Echo: still there' })
  })
})

test('tools are listed and called over HTTP, and a server is switched off and on', async () => {
  const tools = await server.get<McpTool[]>(`${PREFIX}/memory/tools`)
  expect(tools.map(({ name }) => name)).toContain('read_graph')
  const result = await server.call('POST', `${PREFIX}/everything/tools/get-sum`, { a: 2, b: 3 })
  expect(result.body as McpToolCallResult).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining('5') }] })
  expect((await server.call('POST', `${PREFIX}/nobody/connect`)).status).toBe(404)
  expect((await server.call('POST', `${PREFIX}/memory/disconnect`)).body).toBe(true)
  expect((await server.get<McpStatusMap>(PREFIX))['memory']).toEqual({ status: 'failed', error: 'not connected yet' })
  const off = await server.call('PATCH', `${PREFIX}/memory/config`, { enabled: false })
  expect(off.body).toEqual({
    status: { status: 'disabled' },
    enabled: false,
    acceptance: null,
    runtimeConnected: false,
    oauthCapable: false,
    hasCredentials: false,
    configWritable: true,
    configScope: 'global',
  })
  const shown = await svc(['mcp', 'everything', '--server', server.url, '--dir', scene.place.repo])
  expect(shown).toMatch(/^everything +connected/m)
  expect(shown).toMatch(/^tool +echo/m)
  expect(await svc(['mcp', '--json', '--server', server.url, '--dir', scene.place.repo])).toContain('"configScope": "global"')
  const on = await server.call('PATCH', `${PREFIX}/memory/config`, { enabled: true })
  expect(on.body as McpCatalogEntry).toMatchObject({ enabled: true, status: { status: 'failed' } })
  expect((await server.call('POST', `${PREFIX}/memory/connect`)).body).toBe(true)
})
