/** A repository that brings a workflow with it runs nothing until somebody accepts that content, and never against a deny (choice 16). */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { WorkflowCatalog, WorkflowRun } from '../../../src/protocol/workflow/workflow.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'

const FILE = '.svc/workflows/deploy.md'
const ROUTES = '/v2/plugins/dev.svc.workflows'
const run = promisify(execFile)

let scene: Scene
let model: ModelServer

const workflow = (active: string, prompt: string, schedule: string) =>
  `---\nid: deploy\nname: Deploy\nactive: ${active}\nschedule: ${schedule}\npermissions: { bash: allow }\n---\n${prompt}\n`
/** Due in two seconds, so that whatever is active would run within the test. */
const soon = () => `{ at: "${new Date(Math.ceil(Date.now() / 1000) * 1000 + 2000).toISOString()}" }`
const HOURLY = '{ frequency: hourly }'

beforeEach(async () => {
  model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool'
      ? reply(text('done'), finish('stop'))
      : reply(
          toolCall({ id: `c${request.index}`, name: 'bash', input: { command: 'touch ran.txt', description: 'a command' } }),
          finish('tool_calls'),
        ),
  )
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
    cwd: scene.place.repo,
    env: scene.place.env,
    stdio: 'ignore',
  })
const ran = () => existsSync(join(scene.place.repo, 'ran.txt'))
const cli = (...args: string[]) => run(process.execPath, [PROGRAM, 'workflow', ...args], { cwd: scene.place.repo, env: scene.place.env })

async function begin(permission: object, content: string): Promise<{ server: Server; stream: Stream }> {
  scene = openScene(makePlace({ 'README.md': 'hello\n', [FILE]: content }))
  scene.place.configure(withModel(model.url, permission))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  await server.createSession()
  return { server, stream }
}

async function ended(stream: Stream, from = 0): Promise<WorkflowRun> {
  const event = await stream.waitFor((each) => each.type === 'workflow.run.updated' && each.data.run.finishedAt != null, from)
  if (event.type !== 'workflow.run.updated') throw new Error('another event')
  return event.data.run
}

const pending = (server: Server) => server.get<PermissionRequest[]>('/v2/interactions/permissions')

describe('a workflow of a cloned repository', () => {
  test.each([
    ['has no rule', {}, 'runs'],
    ['asks', { permission: { bash: 'ask' } }, 'runs'],
    ['denies', { permission: { bash: 'deny' } }, 'denied'],
    ['denies by a pattern', { permission: { bash: { '*': 'allow', 'touch *': 'deny' } } }, 'denied'],
  ])('runs nothing where the installation %s, until it is accepted', async (_, permission, outcome) => {
    const due = soon()
    const { server, stream } = await begin(permission, workflow('true', 'Deploy.', due))
    const { workflows, diagnostics } = await server.get<WorkflowCatalog>(ROUTES)
    expect(workflows).toMatchObject([{ active: false }])
    expect(diagnostics).toMatchObject([{ code: 'acceptance-required' }])
    expect(await server.call('POST', `${ROUTES}/deploy/run`)).toMatchObject({
      status: 403,
      body: { details: { reason: 'acceptance-required' } },
    })
    const moment = Date.parse(due.slice(7, -3))
    await expect.poll(() => Date.now() > moment + 1000).toBe(true)
    expect([await server.call('GET', `${ROUTES}/deploy/runs`), model.requests.length, ran()]).toMatchObject([{ status: 404 }, 0, false])

    const { stdout } = await cli('accept', 'deploy')
    expect(stdout).toMatch(/^accepted .*deploy\.md \(sha256:[0-9a-f]{64}\); deploy is active\n$/)
    expect(await server.call('POST', `${ROUTES}/deploy/run`)).toMatchObject({ status: 200 })
    expect(await ended(stream)).toMatchObject({ status: 'completed', trigger: 'manual' })
    expect(await pending(server)).toEqual([])
    expect(ran()).toBe(outcome === 'runs')
  })

  test('says so on the command line, and needs acceptance again when a pull changes it', async () => {
    const { server, stream } = await begin({ permission: { bash: 'ask' } }, workflow('true', 'Deploy.', HOURLY))
    expect((await cli('list')).stderr).toMatch(/deploy\.md: is not used until its content is accepted.*\[acceptance-required\]/)
    const validated = await cli('validate')
    expect([validated.stdout, validated.stderr]).toEqual([expect.stringContaining('ok '), expect.stringContaining('[acceptance-required]')])
    await cli('accept', 'deploy')
    expect((await cli('list')).stderr).toBe('')

    const mine = stream.events.length
    writeFileSync(join(scene.place.repo, '.svc/workflows/mine.md'), workflow('true', 'Mine.', HOURLY).replaceAll('deploy', 'mine'))
    const saved = await stream.waitFor((event) => event.type === 'workflow.updated' && event.data.workflow?.workflowId === 'mine', mine)
    expect(saved).toMatchObject({ data: { workflow: { active: true } } })

    const origin = join(scene.place.root, 'origin')
    git('clone', '--quiet', '.', origin)
    mkdirSync(join(origin, '.svc/workflows'), { recursive: true })
    writeFileSync(join(origin, FILE), workflow('true', 'Deploy elsewhere.', HOURLY))
    git('-C', origin, 'commit', '--quiet', '--all', '--message', 'more')
    const pulled = stream.events.length
    git('pull', '--quiet', '--ff-only', origin, 'main')
    const event = await stream.waitFor((each) => each.type === 'workflow.updated' && each.data.active === false, pulled)
    expect(event).toMatchObject({ data: { workflowID: 'deploy', error: expect.stringContaining('until its content is accepted') } })
    expect(await server.call('POST', `${ROUTES}/deploy/run`)).toMatchObject({ status: 403 })
    git('checkout', '--quiet', 'HEAD~1')
    await stream.waitFor(
      (each) => each.type === 'workflow.updated' && each.data.workflow?.workflowId === 'deploy' && each.data.workflow.active,
      pulled,
    )
    expect(model.requests).toHaveLength(0)
  })

  test('that nobody accepted widens nothing even where the installation believes files', async () => {
    const files = { workflows: { acceptance: 'files' }, permission: { bash: 'ask' } }
    const { server } = await begin(files, workflow('false', 'Deploy.', HOURLY))
    expect(await server.call('POST', `${ROUTES}/deploy/run`)).toMatchObject({ status: 200 })
    await expect.poll(() => pending(server)).toMatchObject([{ permission: 'bash', metadata: { deniedAfterMs: 600_000 } }])
    expect(ran()).toBe(false)
  })
})
