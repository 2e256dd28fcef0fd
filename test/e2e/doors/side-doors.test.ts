/** What is asked about at the front is asked about, or refused, at the side: what edits tell, what plugins hand to commands, where links lead. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { WorkflowCatalog } from '../../../src/protocol/workflow/workflow.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'
import { toolParts } from '../server/transcript.js'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

type Call = readonly [name: string, input: object]

async function begin(calls: readonly Call[], files: Readonly<Record<string, string>>, prepare: () => void = () => undefined) {
  model = await startModelServer([
    ...calls.map(([name, input], index) => reply(toolCall({ id: `c${index}`, name, input }), finish('tool_calls'))),
    reply(text('done'), finish('stop')),
  ])
  scene = openScene(makePlace({ 'README.md': 'hello\n', ...files }))
  scene.place.configure(withModel(model.url))
  prepare()
  const server = await scene.start()
  return { server, stream: await server.stream({ tail: true }) }
}

const isIdle = (event: AnyEvent, id: string) =>
  event.type === 'session.status' && event.data.sessionID === id && event.data.status.type === 'idle'

/** Runs the calls, rejecting what is asked; how each ended, and the groups that were asked about. */
async function play(server: Server, stream: Stream): Promise<{ states: string[]; asked: string[]; told: string }> {
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'go on' })
  const asked: string[] = []
  for (let from = 0; ; ) {
    const event = await stream.waitFor((each) => each.type === 'permission.asked' || isIdle(each, id), from)
    from = stream.events.indexOf(event) + 1
    if (event.type !== 'permission.asked') break
    asked.push(`${event.data.permission} ${event.data.patterns.join(' ')}`)
    await server.call('POST', `/v2/interactions/permissions/${event.data.id}/reply`, { reply: 'reject' })
  }
  const states = toolParts(await server.messages(id)).map(({ state }) => state.status)
  return { states, asked, told: JSON.stringify(model.requests.at(-1)?.body?.messages) }
}

test('an edit tells nothing of a file that may not be read', async () => {
  const edit = (filePath: string): Call => ['edit', { filePath, oldString: '=', newString: ':' }]
  const { server, stream } = await begin([edit('.env'), edit('a.txt')], { '.env': 'A=hidden\nB=hidden\n', 'a.txt': 'x=plain\ny=plain\n' })
  const { states, asked, told } = await play(server, stream)
  expect({ states, asked }).toEqual({ states: ['error', 'error'], asked: ['read .env'] })
  expect(told).toContain('x=plain')
  expect(told).not.toContain('hidden')
})

test.each([
  ['what is theirs', { NO_COLOR: '1', DEPLOY_STAGE: 'test' }, 'completed'],
  ['settings of git', { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: 'touch ran;false' }, 'error'],
  ['programs of git', { GIT_EXTERNAL_DIFF: 'touch ran;true' }, 'error'],
  ['another home', { HOME: '/nowhere' }, 'error'],
  ['another place of settings', { XDG_CONFIG_HOME: '/nowhere' }, 'error'],
  ['code for an interpreter', { NODE_OPTIONS: '--require=/nowhere.cjs' }, 'error'],
  ['options of the shell', { BASHOPTS: 'expand_aliases' }, 'error'],
])('plugins give commands %s as far as that does not decide what runs', async (_, shellEnv, status) => {
  const commands: Call[] = [['bash', { command: 'git status -s && git diff' }]]
  const { server, stream } = await begin(commands, { 'a.txt': 'a\n' }, () => {
    const { configFile, write } = scene.place
    write('a.txt', 'changed\n')
    mkdirSync(join(dirname(configFile), 'plugins'))
    writeFileSync(join(dirname(configFile), 'plugins/gives.json'), JSON.stringify({ shellEnv }))
  })
  const { states, asked } = await play(server, stream)
  expect({ states, asked, ran: existsSync(join(scene.place.repo, 'ran')) }).toEqual({ states: [status], asked: [], ran: false })
})

test('a workflow is no file that agents may write because a link of the repository leads there', async () => {
  const workflow = (id: string) =>
    `---\nid: ${id}\nname: ${id}\nactive: true\nschedule: { frequency: hourly }\npermissions: { bash: allow }\n---\nGo.\n`
  const calls: Call[] = [
    ['write', { filePath: 'docs/flow.md', content: workflow('linked') }],
    ['write', { filePath: 'docs/flows/flow.md', content: workflow('inside') }],
    ['write', { filePath: '.svc/workflows/own.md', content: workflow('own') }],
  ]
  const { server, stream } = await begin(calls, { '.svc/workflows/mine/flow.md': workflow('mine') }, () => {
    const { repo } = scene.place
    mkdirSync(join(repo, 'docs/flows'), { recursive: true })
    symlinkSync('../../docs/flow.md', join(repo, '.svc/workflows/linked.md'))
    symlinkSync('../../docs/flows', join(repo, '.svc/workflows/inside'))
    symlinkSync('mine/flow.md', join(repo, '.svc/workflows/near.md'))
  })
  const { states, asked } = await play(server, stream)
  expect({ states, asked }).toEqual({ states: ['completed', 'completed', 'error'], asked: ['edit .svc/workflows/own.md'] })
  const { workflows, diagnostics } = await server.get<WorkflowCatalog>('/v2/plugins/dev.svc.workflows')
  expect(workflows.map(({ definition: { id } }) => id)).toEqual(['mine'])
  const told = diagnostics.map(({ sourcePath, message }) => `${sourcePath} ${message}`).join('\n')
  for (const name of ['linked.md', 'inside'])
    expect(told).toMatch(new RegExp(`/workflows/${name} is not read: it leads to .*, which is in no .svc directory`))
})
