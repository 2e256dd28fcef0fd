/** A workflow file saved in every way that editors save runs on its second, as it was saved last (service.md, Workflow activation). */
import { appendFileSync, mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import type { InspectorTrace } from '../../../src/protocol/system/inspector.js'
import type { WorkflowRun } from '../../../src/protocol/workflow/workflow.js'
import { createGate, finish, type Gate, hold, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { type House, openHouse } from '../server/house.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { momentText, saveBeforeDue } from '../server/moments.js'

const CONFIG = { agent: { careful: { mode: 'primary', prompt: 'Be careful.' } }, permission: { '*': 'allow' } }
const FILES = { 'README.md': 'hello\n', 'packages/web/index.js': '' }

let house: House
let place: Place
/** The model answers once it is open. */
let answering: Gate
let server: Server
let stream: Stream

const answer = () => reply(hold(answering), text('Done.'), finish('stop'))

beforeAll(async () => {
  house = await openHouse(CONFIG)
})
beforeEach(() => {
  answering = createGate()
  answering.open()
})
afterAll(() => house.close())

async function enter() {
  const room = await house.room(answer, undefined, FILES)
  onTestFinished(() => room.close())
  ;({ place, server } = room)
  stream = await server.stream({ tail: true })
  return room
}

function file(fields: Readonly<Record<string, string>>, prompt: string): string {
  const lines = Object.entries({ id: 'nightly', name: 'Nightly report', active: 'true', ...fields })
  return `---\n${lines.map(([key, value]) => `${key}: ${value}`).join('\n')}\n---\n\n${prompt}\n`
}

function path(name = 'nightly.md'): string {
  const at = join(place.repo, '.svc/workflows', name)
  mkdirSync(dirname(at), { recursive: true })
  return at
}

async function activation(active: boolean, from = 0) {
  const event = await stream.waitFor(
    (each) => each.type === 'workflow.updated' && each.data.workflow?.workspaceRoot === place.repo && each.data.workflow.active === active,
    from,
  )
  if (event.type !== 'workflow.updated') throw new Error('another event')
  return event
}

async function ended(status: string, from = 0): Promise<WorkflowRun> {
  const event = await stream.waitFor((each) => each.type === 'workflow.run.updated' && each.data.run.status === status, from)
  if (event.type !== 'workflow.run.updated') throw new Error('another event')
  return event.data.run
}

/** Opening a workspace is what makes its workflows run. */
const use = () => server.createSession()

describe('a file that is saved', () => {
  const FULL = {
    directory: 'packages/web',
    agent: 'careful',
    permissions: '{ bash: { default: deny, allow: ["git *"] }, edit: deny }',
  }

  test.each([
    ['in one piece', async (at: string, content: string) => writeFileSync(at, content)],
    [
      'beside it and renamed over it',
      async (at: string, content: string) => {
        writeFileSync(`${at}.tmp`, content)
        renameSync(`${at}.tmp`, at)
      },
    ],
    [
      'by truncating and writing in pieces',
      async (at: string, content: string) => {
        writeFileSync(at, '')
        for (let start = 0; start < content.length; start += 60) {
          appendFileSync(at, content.slice(start, start + 60))
          await delay(5)
        }
      },
    ],
    [
      'after moving the old one away',
      async (at: string, content: string) => {
        renameSync(at, `${at}~`)
        await delay(5)
        writeFileSync(at, content)
        unlinkSync(`${at}~`)
      },
    ],
  ])('%s runs as it was saved last', async (_, save) => {
    const { model } = await enter()
    const never = { schedule: '{ date: 2000-01-01 }', active: 'false' }
    writeFileSync(path(), file(never, 'The first version.'))
    await use()
    const due = (at: number) => ({
      ...FULL,
      model: `{ providerId: test, modelId: ${model.name} }`,
      name: 'As saved last',
      schedule: `{ at: "${momentText(at)}" }`,
    })
    for (const draft of ['A draft.', 'Another draft.']) {
      const from = stream.events.length
      await save(path(), file(due(Date.UTC(2100, 0)), draft))
      await activation(true, from)
    }
    const { at, event } = await saveBeforeDue(stream, (at) => save(path(), file(due(at), 'Report as saved last.')))
    expect(event.data).toMatchObject({ workflow: { workflowId: 'nightly', active: true, workspaceRoot: place.repo } })

    const run = await ended('completed')
    expect(run).toMatchObject({ workflowId: 'nightly', scheduledAt: at, trigger: 'scheduled', attempt: 1, rootRunId: run.id })
    expect((run.startedAt ?? 0) - at).toBeGreaterThanOrEqual(0)
    const session = await server.get<Session>(`/v2/sessions/${run.sessionId}`)
    expect(session).toMatchObject({
      title: 'As saved last',
      directory: join(place.repo, 'packages/web'),
      agent: 'careful',
      model: { providerId: 'test', id: model.name },
      permission: [
        { permission: 'bash', pattern: '*', action: 'deny' },
        { permission: 'bash', pattern: 'git *', action: 'allow' },
        { permission: 'edit', pattern: '*', action: 'deny' },
      ],
      workflowRunID: run.id,
      workflowID: 'nightly',
      workflowActivationID: run.activationId,
      workflowScheduledAt: at,
      workflowTrigger: 'scheduled',
      workflowDirectory: join(place.repo, 'packages/web'),
    })
    const messages = await server.messages(session.id)
    expect(messages[0]?.info.id).toMatch(/^msg_workflow_[0-9a-f]{24}$/)
    expect(messages[0]?.parts).toMatchObject([{ type: 'text', text: 'Report as saved last.' }])
    expect(model.requests).toHaveLength(1)
  })
})

test('a workflow whose directory is missing is inactive and refused with the reason, until the directory is there', async () => {
  await enter()
  writeFileSync(path(), file({ schedule: '{ frequency: hourly }', directory: 'later' }, 'Work there.'))
  await use()
  const refused = await server.call('POST', '/v2/plugins/dev.svc.workflows/nightly/run')
  expect(refused).toMatchObject({ status: 422, body: { details: { reason: 'directory-missing' } } })
  expect(refused.text).toContain('later\\" does not exist')
  expect(await server.get('/v2/plugins/dev.svc.workflows/nightly')).toMatchObject({
    active: false,
    definition: { active: true },
    diagnostics: [{ code: 'directory-missing' }],
  })
  mkdirSync(join(place.repo, 'later'))
  await activation(true)
  const answer = await server.call('POST', '/v2/plugins/dev.svc.workflows/nightly/run')
  expect(answer.status).toBe(200)
  expect(await ended('completed')).toMatchObject({ trigger: 'manual' })
})

test('the inspector shows the engine and the run under way; after a kill the run is over, and its next attempt waits', async () => {
  answering = createGate()
  const model = await startModelServer(answer)
  const scene = openScene(makePlace(FILES))
  onTestFinished(async () => {
    await scene.close()
    await model.close()
  })
  ;({ place } = scene)
  place.configure(withModel(model.url, CONFIG))
  server = await scene.start()
  const retry = '{ maxAttempts: 2, backoff: fixed, initialDelayMs: 3600000, maxDelayMs: 0 }'
  writeFileSync(path(), file({ schedule: '{ frequency: hourly }', retry }, 'Report.'))
  await use()
  const run = (await server.call('POST', '/v2/plugins/dev.svc.workflows/nightly/run')).body as WorkflowRun
  await model.request(0)
  const engine = { id: 'workflow-engine', states: ['serving.files.followed', 'serving.schedule.resting'] }
  await expect.poll(inspected).toEqual([engine, { id: `workflow-run:${run.id}`, states: ['working.running'] }])

  await server.kill()
  server = await scene.start()
  const history = await server.get<{ runs: readonly WorkflowRun[] }>('/v2/plugins/dev.svc.workflows/nightly/runs')
  expect(history.runs.map(({ status, retryOf }) => ({ status, retryOf }))).toEqual([
    { status: 'retry_waiting', retryOf: run.id },
    { status: 'interrupted', retryOf: null },
  ])
  await expect.poll(inspected).toEqual([engine, { id: `workflow-run:${history.runs[0]?.id}`, states: ['retry-waiting.sleeping'] }])
  answering.open()
})

/** Actors of workflows and their innermost states. */
async function inspected() {
  const { actors } = await server.get<InspectorTrace>('/v2/inspector/trace')
  const own = actors.filter(({ kind }) => kind.startsWith('workflow-'))
  return own.map(({ id, state }) => ({ id, states: state.toSorted() }))
}
