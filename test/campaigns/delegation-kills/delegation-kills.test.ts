/**
 * A parent delegates to three subagents in the background: one asks permission, one fails, one finishes; and it starts a command in the
 * background. The server is killed at random instants between start and delivery, and started again on the same state: what became of
 * every task and every command is told exactly once, nothing that ran runs again, and nothing runs without a server.
 */
import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message } from '../../../src/protocol/message/message.js'
import type { SessionPage, SessionRuntimeSnapshot } from '../../../src/protocol/session/session.js'
import type { SubagentTask } from '../../../src/protocol/session/subagent.js'
import { makePlace, withModel } from '../../e2e/server/place.js'
import { mentioning, untilNone } from '../../e2e/server/processes.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'
import {
  finish,
  type ModelServer,
  type ModelServerRequest,
  refusal,
  reply,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { SEED, times } from '../scale.js'
import { PATIENCE } from '../../fakes/patience.js'

const KILLS = times(1, 40)
const WORKS = ['write', 'fail', 'tidy']
/** In the arguments of the commands, which sleep a tenth of a second. */
const MARK = '00470815'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const last = body?.messages.at(-1)
  const asked = JSON.stringify(last?.['content'] ?? '')
  if (last?.role === 'tool' || asked.includes('svc-runtime-notification')) return reply(text('So ', 'it ', 'is.'), finish('stop'))
  const round = /round-(\d+)/.exec(asked)?.[1]
  if (asked.includes('delegate')) {
    const calls = WORKS.flatMap((work, index) => {
      const input = { description: work, prompt: `do:${work} round-${round}`, subagent_type: 'general' }
      return toolCall({ id: `call_${index}`, index, name: 'task', input })
    })
    const command = `echo ran >> ran-${round}.txt; sleep 0.1${MARK}; sleep 0.1${MARK}`
    const job = toolCall({ id: 'call_j', index: WORKS.length, name: 'background_task', input: { description: `job-${round}`, command } })
    return reply(...calls, ...job, finish('tool_calls'))
  }
  if (asked.includes('do:fail')) return refusal(400, 'no such luck')
  if (asked.includes('do:write')) {
    return reply(...toolCall({ id: 'call_w', name: 'write', input: { filePath: `made-${round}.txt`, content: 'x' } }), finish('tool_calls'))
  }
  return reply(text('Tidied ', 'up.'), finish('stop'))
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await delay(20)) if (await isSo()) return
  throw new Error(`in vain: ${what}`)
}

async function allow(server: Server): Promise<void> {
  for (const { id } of await server.get<PermissionRequest[]>('/v2/interactions/permissions'))
    await server.call('POST', `/v2/interactions/permissions/${id}/reply`, { reply: 'once' })
}

const tasksOf = (server: Server, id: string) => server.get<SubagentTask[]>(`/v2/plugins/dev.svc.subagents/sessions/${id}/tasks`)

/** Nothing of the family goes on any more. */
async function settled(server: Server, id: string): Promise<void> {
  await until(`session ${id} has settled`, async () => {
    await allow(server)
    const { branches, execution } = await server.get<SessionRuntimeSnapshot>(`/v2/sessions/${id}/runtime`)
    return (
      execution?.finished !== false &&
      branches.every(({ status }) => status !== 'outstanding') &&
      Object.keys(await server.statuses()).length === 0
    )
  })
}

const isNotice = ({ info }: Message) => info.role === 'user' && info.system?.startsWith('<svc-runtime-notification>') === true

test(
  `what became of a task is told exactly once over ${KILLS} kills (seed ${SEED})`,
  async () => {
    const random = generator(SEED)
    model = await startModelServer(answer)
    scene = openScene(makePlace())
    scene.place.configure(withModel(model.url, { permission: { '*': 'allow', edit: { '*': 'ask', 'ran-*': 'allow' } } }))
    let server = await scene.start()
    const begin = async (round: number) => {
      const { id } = await server.createSession()
      const from = performance.now()
      await server.prompt(id, { prompt: `delegate round-${round}` })
      return { id, from }
    }
    const first = await begin(-0)
    await settled(server, first.id)
    const whole = performance.now() - first.from
    const seen = new Map<string, number>()
    const rounds = [first.id]
    for (let round = 1; round <= KILLS; round++) {
      const { id } = await begin(round)
      rounds.push(id)
      const until = Date.now() + random() * whole
      while (Date.now() < until) {
        await allow(server)
        await delay(Math.min(10, Math.max(0, until - Date.now())))
      }
      await server.kill()
      expect(await untilNone(() => mentioning(MARK))).toEqual([])
      server = await scene.start()
      await settled(server, id)
    }
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    for (const id of rounds) {
      const tasks = await tasksOf(server, id)
      const { items } = await server.get<SessionPage>(`/v2/sessions/${id}/children`)
      expect(items.map((child) => child.id).toSorted()).toEqual(tasks.map((task) => task.id).toSorted())
      const said = (await server.messages(id))
        .filter(isNotice)
        .map(({ parts }) => JSON.stringify(parts))
        .join('\n')
      const jobs = [...said.matchAll(/job_id: (job_\w+)/g)].map(([, jobId]) => jobId)
      expect(jobs).toEqual([...new Set(jobs)])
      for (const [, status = ''] of said.matchAll(/description: job-.*?status: (\w+)/g)) count(`job ${status}`)
      const started = (await server.messages(id)).flatMap(({ parts }) =>
        parts.flatMap((part) =>
          part.type === 'tool' && part.tool === 'background_task' ? (/job_id: (job_\w+)/.exec(JSON.stringify(part.state))?.[1] ?? []) : [],
        ),
      )
      expect(started.filter((jobId) => !jobs.includes(jobId))).toEqual([])
      for (const task of tasks) {
        expect([task.id, task.status, said.split(`task_id: ${task.id}`).length - 1]).toEqual([task.id, task.status, 1])
        count(`${task.description} ${task.status}`)
        expect(['completed', 'error']).toContain(task.status)
      }
    }
    const asked = new Map<string, number>()
    for (const { body } of model.requests) {
      const last = body?.messages.at(-1)
      const work = last?.role === 'user' ? /do:\w+ round-\d+/.exec(JSON.stringify(last['content']))?.[0] : undefined
      if (work !== undefined) asked.set(work, (asked.get(work) ?? 0) + 1)
    }
    expect([...asked].filter(([, often]) => often > 1)).toEqual([])
    expect(seen.get('fail completed')).toBe(undefined)
    const ran = readdirSync(scene.place.repo).filter((name) => name.startsWith('ran-'))
    expect(ran.filter((name) => scene.place.read(name) !== 'ran\n')).toEqual([])
    process.stdout.write(`${JSON.stringify({ seed: SEED, kills: KILLS, whole: Math.round(whole), seen: Object.fromEntries(seen) })}\n`)
  },
  PATIENCE * (3 + KILLS),
)

/** Numbers from 0 to 1 that a seed makes again. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
