// Holds subsystems a.6.
/**
 * The server is killed around the instants at which workflows are due, and started again on the same state (threat-model
 * §6.3.1, §6.3.2). The instants are drawn from the seed.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { Session, SessionPage } from '../../../src/protocol/session/session.js'
import type { WorkflowHistory, WorkflowProjection, WorkflowRun } from '../../../src/protocol/workflow/workflow.js'
import { Database } from '../../../src/store/disk/driver.js'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../../e2e/server/place.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'
import { SEED, times } from '../scale.js'
import { PATIENCE } from '../../fakes/patience.js'

const KILLS = times(3, 40)
const ROUTE = '/v2/plugins/dev.svc.workflows'
/** Workflows due at the same instant. */
const TOGETHER = 3

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

function file(id: string, schedule: string): string {
  return `---\nid: ${id}\nname: ${id}\nactive: true\nschedule: ${schedule}\n---\n\nThe work of ${id}.\n`
}

async function open(): Promise<Server> {
  model = await startModelServer(() => reply(text('Done.'), finish('stop')))
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow' } }))
  const server = await scene.start()
  await server.createSession()
  return server
}

async function history(server: Server, id: string): Promise<readonly WorkflowRun[]> {
  const answer = await server.call('GET', `${ROUTE}/${id}/runs`)
  return answer.status === 200 ? (answer.body as WorkflowHistory).runs : []
}

const isOver = ({ status }: WorkflowRun) => status === 'completed' || status === 'interrupted' || status === 'failed'

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await delay(25)) if (await isSo()) return
  throw new Error(`in vain: ${what}`)
}

test(
  `each occurrence has one run, each session its run, and nothing is executed twice over ${KILLS} kills`,
  async () => {
    const random = generator(SEED)
    let server = await open()
    const ids: string[] = []
    const endings = new Set<string>()
    for (let kill = 0; kill < KILLS; kill++) {
      const theirs = Array.from({ length: TOGETHER }, (_, index) => `work-${kill}-${index}`)
      ids.push(...theirs)
      const at = await activeSoon(server, theirs, Math.floor(random() * 300))
      await delay(Math.max(0, at + Math.floor(random() * 120) - 15 - Date.now()))
      await server.kill()
      server = await scene.start()
      for (const id of theirs) {
        await until(`the run of ${id} is over`, async () => {
          const runs = await history(server, id)
          return runs.length > 0 && runs.every(isOver)
        })
        const [run, ...others] = await history(server, id)
        expect([id, others]).toEqual([id, []])
        expect([id, run?.scheduledAt]).toEqual([id, at])
        endings.add(`${run?.status} ${run?.sessionId === undefined || run.sessionId === null ? 'without a session' : 'with a session'}`)
      }
    }

    const sessions = await everySession(server)
    const runs = (await Promise.all(ids.map((id) => history(server, id)))).flat()
    const started = runs.filter(({ sessionId }) => typeof sessionId === 'string')
    const ofWorkflows = sessions.filter((session) => session['workflowRunID'] !== undefined)
    const pairs = ofWorkflows.map((session) => [session['workflowRunID'], session.id])
    expect(new Set(pairs.map(String))).toEqual(new Set(started.map(({ id, sessionId }) => String([id, sessionId]))))
    expect(pairs).toHaveLength(started.length)

    const asked = new Map<string, number>()
    for (const { body } of model.requests) {
      const work = /The work of (work-\d+-\d+)\./.exec(JSON.stringify(body?.messages))?.[1] ?? ''
      asked.set(work, (asked.get(work) ?? 0) + 1)
    }
    for (const { workflowId, status } of runs) {
      const times = asked.get(workflowId) ?? 0
      expect([workflowId, status, times]).toEqual([workflowId, status, status === 'completed' ? 1 : Math.min(times, 1)])
    }
    // The kills have met the work before, during and after the claim; otherwise this shows little. A few may all meet it at the same point.
    const met = [...endings].filter((ending) => ending.endsWith('with a session'))
    expect(met.length).toBeGreaterThanOrEqual(KILLS < 12 ? 1 : 2)
  },
  PATIENCE * (3 + KILLS),
)

/** Makes workflows active that are due at one instant, which is still to come. */
async function activeSoon(server: Server, ids: readonly string[], more: number): Promise<number> {
  const at = Date.now() + 1500 + more
  for (const id of ids) scene.place.write(`.svc/workflows/${id}.md`, file(id, `{ at: "${new Date(at).toISOString()}" }`))
  const isActive = async (id: string) => {
    const { status, body } = await server.call('POST', `${ROUTE}/${id}/activate`)
    return status === 200 && (body as WorkflowProjection).active
  }
  await until('the workflows are active', async () => (await Promise.all(ids.map(isActive))).every(Boolean))
  return at
}

test('thirty occurrences that were missed are one run, of the latest', async () => {
  const server = await open()
  const minute = (new Date().getUTCMinutes() + 30) % 60 // no occurrence while the test runs
  scene.place.write('.svc/workflows/hourly.md', file('hourly', `{ frequency: hourly, minute: ${minute} }`))
  await until('the workflow is active', async () => (await server.call('POST', `${ROUTE}/hourly/activate`)).status === 200)
  const { activationId } = (await server.call('POST', `${ROUTE}/hourly/activate`)).body as WorkflowProjection
  await server.stop()
  backdate(activationId, 30.5 * 3_600_000)

  const again = await scene.start()
  await until('the run is over', async () => (await history(again, 'hourly')).some(isOver))
  const runs = await history(again, 'hourly')
  const latest = Math.floor((Date.now() - minute * 60_000) / 3_600_000) * 3_600_000 + minute * 60_000
  expect(runs.map(({ scheduledAt, status, trigger }) => ({ scheduledAt, status, trigger }))).toEqual([
    { scheduledAt: latest, status: 'completed', trigger: 'scheduled' },
  ])
  expect(model.requests).toHaveLength(1)

  await again.kill()
  const third = await scene.start()
  expect((await history(third, 'hourly')).map(({ id }) => id)).toEqual(runs.map(({ id }) => id))
})

async function everySession(server: Server): Promise<Session[]> {
  const sessions: Session[] = []
  for (let cursor = ''; ; ) {
    const page = await server.get<SessionPage>(`/v2/sessions?limit=200${cursor}`)
    for (const { id } of page.items) sessions.push(await server.get<Session>(`/v2/sessions/${id}`))
    if (page.cursor.next === undefined) return sessions
    cursor = `&cursor=${encodeURIComponent(page.cursor.next)}`
  }
}

/** As if the workflow had been active for so long. */
function backdate(activationId: string, ms: number): void {
  const database = new Database(join(scene.place.state, 'agent.sqlite3'))
  const key = ['dev.svc.workflows', 'activation', activationId]
  const row = database.prepare('select data from plugin_rows where plugin = ? and kind = ? and id = ?').get(key) as { data: string }
  const data = JSON.parse(row.data) as { notBefore: number; projection: { activatedAt: number } }
  data.notBefore -= ms
  data.projection.activatedAt -= ms
  database.prepare('update plugin_rows set data = ? where plugin = ? and kind = ? and id = ?').run(JSON.stringify(data), ...key)
  database.close()
}

function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 0) / 2 ** 32
  }
}
