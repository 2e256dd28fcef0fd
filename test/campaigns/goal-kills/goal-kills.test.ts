// Holds http-contract §2.12.
/**
 * A goal that takes four runs; the server is killed at a random instant of them and started again on the same state: the goal is
 * reached, one run at most is lost, none follows twice on one end, and no command is run a second time.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { GoalResponse } from '../../../src/protocol/session/goal.js'
import { makePlace, withModel } from '../../e2e/server/place.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { SEED, times } from '../scale.js'
import { PATIENCE } from '../../fakes/patience.js'

const KILLS = times(1, 40)
const RUNS = 4

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

/** Each run adds a line to a file, until three were seen to be added; then the goal is reached. */
function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const messages = body?.messages ?? []
  const round = /round-\d+/.exec(JSON.stringify(messages))?.[0] ?? ''
  const run = messages.filter(({ role }) => role === 'user').length
  const added = messages.filter(({ role, content }) => role === 'tool' && JSON.stringify(content).includes('added')).length
  if (messages.at(-1)?.role === 'tool') return reply(text('So ', 'it ', 'is.'), finish('stop'))
  const call =
    added < RUNS - 1
      ? { id: `call_${run}`, name: 'bash', input: { command: `echo ${round} ${run} >> log.txt && echo added` } }
      : { id: `call_${run}`, name: 'complete_goal', input: { status: 'complete', summary: 'All lines are there.' } }
  return reply(toolCall(call), finish('tool_calls'))
}

const at = (id: string) => `/v2/plugins/dev.svc.goals/${id}`

async function begin(server: Server, round: number): Promise<string> {
  const { id } = await server.createSession()
  await server.call('POST', at(id), { text: `round-${round}` })
  await server.prompt(id, { prompt: `round-${round}` })
  return id
}

/** What became of the goal, once nothing of its session goes on. */
async function ended(server: Server, id: string) {
  let seen: unknown
  for (const end = Date.now() + PATIENCE; Date.now() < end; await delay(10)) {
    const { goal } = await server.get<GoalResponse>(at(id))
    const isBusy = Object.keys(await server.statuses()).length > 0
    if (goal !== null && goal.status !== 'active' && !isBusy) return goal
    seen = { goal, isBusy }
  }
  const said = (await server.messages(id)).map(({ info, parts }) => [info, parts])
  throw new Error(`the goal of ${id} did not end: ${JSON.stringify({ seen, said: said.slice(-3) })}`)
}

test(
  `a goal is reached over ${KILLS} kills (seed ${SEED})`,
  async () => {
    let state = SEED >>> 0
    const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
    model = await startModelServer(answer)
    scene = openScene(makePlace())
    scene.place.configure(withModel(model.url, { permission: { '*': 'allow' } }))
    let server = await scene.start()
    const from = performance.now()
    const rounds = [await begin(server, 0)]
    await ended(server, rounds[0] ?? '')
    const whole = performance.now() - from
    for (let round = 1; round <= KILLS; round++) {
      rounds.push(await begin(server, round))
      await delay(random() * whole)
      await server.kill()
      server = await scene.start()
      await ended(server, rounds.at(-1) ?? '')
    }
    const runs: number[] = []
    for (const [round, id] of rounds.entries()) {
      expect(await server.get(at(id))).toMatchObject({ goal: { status: 'complete', summary: 'All lines are there.' } })
      runs.push((await server.messages(id)).filter(({ info }) => info.role === 'user').length)
      expect([RUNS, ...(round > 0 ? [RUNS + 1] : [])]).toContain(runs.at(-1))
    }
    const lines = scene.place.read('log.txt').trim().split('\n')
    expect(new Set(lines).size).toBe(lines.length)
    process.stdout.write(`${JSON.stringify({ seed: SEED, kills: KILLS, lost: runs.filter((count) => count > RUNS).length })}\n`)
  },
  PATIENCE * (3 + KILLS),
)
