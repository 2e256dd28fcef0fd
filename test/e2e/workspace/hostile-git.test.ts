// Holds threat-model W1.
/** Whatever svc does with a repository, nothing that the repository, or one inside it, names is started (threat-model V1). */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makeShape, NOT_OPENED, OPENED, type Shape } from './hostile-git/shapes.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const VCS = '/v2/plugins/dev.svc.vcs'
const PATCH = '--- /dev/null\n+++ b/patched.txt\n@@ -0,0 +1 @@\n+x\n'
const WORKFLOW = '---\nname: W\nactive: true\nschedule:\n  kind: cron\n  expression: 0 4 * * *\n  timezone: UTC\n---\n\nhello\n'

let scene: Scene
let server: Server
let model: ModelServer
beforeAll(async () => {
  scene = openScene(makePlace())
  model = await startModelServer(turn)
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow' } }))
  server = await scene.start({ SVC_AGENT_TOKEN: 'operator-token' })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

/** Answers a prompt `tool {…}` with that call, and its result with a word. */
function turn({ body, index }: ModelServerRequest) {
  const last = body?.messages.at(-1)
  if (last?.role !== 'user') return reply(text('done'), finish('stop'))
  const said = JSON.stringify(last['content'])
  const name = said.includes('bash') ? 'bash' : 'write'
  const input = name === 'bash' ? { command: 'sh move.sh', description: 'go back' } : { filePath: 'written.txt', content: 'x\n' }
  return reply(toolCall({ id: `c${index}`, name, input, pieces: 1 }), finish('tool_calls'))
}

/** Everything that looks at a repository, by name; each answers a status, or what a tool said. */
const uses: readonly (readonly [name: string, use: (shape: Shape, id: string) => Promise<unknown>])[] = [
  ['vcs', ({ directory }) => at(directory, 'GET', VCS)],
  ['status', ({ directory }) => at(directory, 'GET', `${VCS}/status`)],
  ['diff', ({ directory }) => at(directory, 'GET', `${VCS}/diff`)],
  ['raw', ({ directory }) => at(directory, 'GET', `${VCS}/diff/raw`)],
  ['apply', ({ directory }) => at(directory, 'POST', `${VCS}/apply`, { patch: PATCH })],
  ['session diff', ({ directory }, id) => at(directory, 'GET', `/v2/sessions/${id}/diff`)],
  ['write', (_, id) => prompted(id, 'write')],
  [
    'a command that moves HEAD',
    (shape, id) => {
      writeFileSync(join(shape.directory, 'move.sh'), `printf '%s\\n' ${shape.first} > .git/refs/heads/main; echo x > made.txt\n`)
      return prompted(id, 'bash')
    },
  ],
  ['status after it', ({ directory }) => at(directory, 'GET', `${VCS}/status`)],
  ['diff after it', ({ directory }) => at(directory, 'GET', `${VCS}/diff`)],
  ['undo', ({ directory }, id) => at(directory, 'POST', `/v2/sessions/${id}/undo`)],
  ['redo', ({ directory }, id) => at(directory, 'POST', `/v2/sessions/${id}/redo`)],
  ['undo tree', ({ directory }, id) => at(directory, 'GET', `/v2/sessions/${id}/undo-tree`)],
  [
    'workflows',
    ({ directory }) => {
      mkdirSync(join(directory, '.svc/workflows'), { recursive: true })
      writeFileSync(join(directory, '.svc/workflows/w.md'), WORKFLOW)
      return at(directory, 'GET', '/v2/plugins/dev.svc.workflows')
    },
  ],
  ['repository', ({ directory }) => at(directory, 'POST', '/v2/management/repositories', { kind: 'existing', path: directory })],
  ['clone', ({ directory }) => at(directory, 'POST', '/v2/management/repositories', { kind: 'clone', remoteUrl: `file://${directory}` })],
]

async function at(directory: string, method: string, path: string, body?: object): Promise<number> {
  return (await server.call(method, path, body, { 'x-svc-directory': directory })).status
}

/** States of the calls of the last turn. */
async function prompted(id: string, prompt: string): Promise<unknown> {
  await server.prompt(id, { prompt })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const parts = (await server.messages(id)).flatMap((message) => message.parts)
  return parts.flatMap((part) => (part.type === 'tool' ? [part.state.status] : [])).at(-1)
}

async function used(shape: Shape): Promise<Record<string, unknown>> {
  const created = await server.call('POST', '/v2/sessions', { title: 'a test' }, { 'x-svc-directory': shape.directory })
  expect(['session create', created.status, shape.sprung()]).toEqual(['session create', 200, []])
  const { id } = created.body as { readonly id: string }
  const answers: Record<string, unknown> = {}
  for (const [name, use] of uses) {
    answers[name] = await use(shape, id)
    expect([name, shape.sprung()]).toEqual([name, []])
  }
  return answers
}

/** Everything works; what was there when HEAD moved cannot always be undone, which is said. */
const WORKING = {
  vcs: 200,
  status: 200,
  diff: 200,
  raw: 200,
  apply: 200,
  'session diff': 200,
  write: 'completed',
  'a command that moves HEAD': 'completed',
  'status after it': 200,
  'diff after it': 200,
  undo: 200,
  redo: 200,
  'undo tree': 200,
  workflows: 200,
  repository: 201,
  clone: 201,
}
const REFUSING = {
  status: 422,
  diff: 422,
  raw: 422,
  apply: 422,
  'session diff': 422,
  'status after it': 422,
  'diff after it': 422,
}

test.each(OPENED)('%s: everything that looks at it works, and starts nothing', async (name) => {
  const shape = makeShape(name, scene.place)
  expect(await used(shape)).toEqual(WORKING)
  expect(existsSync(join(shape.directory, 'patched.txt'))).toBe(true)
  const isAlone = name === 'a plain one' || name === 'a nested one that is not tracked'
  const least = isAlone ? ['external', 'filter', 'fsmonitor', 'hook', 'textconv'] : ['filter', 'fsmonitor', 'git']
  expect(shape.sprungByGit(), 'control: git itself starts it').toEqual(expect.arrayContaining(least))
})

test.each(NOT_OPENED)('%s: it is not given to git, and nothing is started', async (name) => {
  const shape = makeShape(name, scene.place)
  expect(await used(shape)).toMatchObject(REFUSING)
  expect(shape.sprungByGit(), 'control: git itself starts it').toEqual(expect.arrayContaining(['external', 'filter', 'fsmonitor']))
})
