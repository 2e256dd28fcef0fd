/**
 * What a hostile external agent sends is bounded: the server answers meanwhile, its memory stays where it was, other sessions work meanwhile, the
 * session itself comes to an end and goes on with the next prompt, and nothing of the agent is left. `SVC_CAMPAIGN=whole` sends more of it,
 * `SVC_FLOOD` names one flood. How long its health takes is told, and no promise here: what one turn of the event loop may take of
 * an agent is counted in `test/plugins/external/link.test.ts` and `family.test.ts`, and timed by `bench/external.mjs`. The controls: an agent that floods nothing is heard, and a server that is made to hold what it is sent is noticed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import { makePlace } from '../../e2e/server/place.js'
import { descendants, untilNone } from '../../e2e/server/processes.js'
import { longestStall, quantile, residentMiB, startProbe, TIMED } from '../../e2e/server/probe.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'

const agent = (name: string) => fileURLToPath(new URL(`../../fixtures/agents/${name}.mjs`, import.meta.url))
const isWhole = process.env['SVC_CAMPAIGN'] === 'whole'
const only = process.env['SVC_FLOOD']
/** MiB that the server may have more while one flood lasts. */
const GROWTH = 256

/** How much of each: a sample, and of the whole run. */
const FLOODS: Readonly<Record<string, readonly [sample: number, whole: number]>> = {
  chunks: [5000, 1_100_000],
  text: [150, 4000],
  thoughts: [150, 4000],
  endless: [1, 1],
  giant: [16, 200],
  large: [10, 100],
  deep: [25_000, 1_000_000],
  wide: [300_000, 1_900_000],
  garbage: [5000, 500_000],
  calls: [750, 30_000],
  prints: [750, 30_000],
  places: [125, 5000],
  questions: [500, 20_000],
  reads: [500, 20_000],
  terminals: [50, 2000],
  methods: [500, 50_000],
  plans: [125, 5000],
  options: [125, 5000],
  usage: [2500, 100_000],
  strangers: [750, 30_000],
  subagents: [750, 30_000],
  'subagent-texts': [100, 4000],
  nested: [750, 30_000],
  broken: [2500, 200_000],
  answers: [750, 30_000],
  errors: [750, 30_000],
  ghost: [5000, 200_000],
  silence: [1, 1],
}
/** How often is looked before a turn is ended that does not end: soon in a sample where it never would. */
const ROUNDS = 60
const ENDLESS: Readonly<Record<string, number>> = isWhole ? {} : { endless: 15, silence: 15 }
const names = Object.keys(FLOODS).filter((name) => only === undefined || name === only)

let scene: Scene
let server: Server
beforeAll(async () => {
  scene = openScene(makePlace())
  const words = (...rest: string[]) => JSON.stringify([process.execPath, ...rest])
  server = await scene.start({
    ...TIMED,
    SVC_EXTERNAL_CODEX_COMMAND: words(agent('flooding')),
    SVC_EXTERNAL_CLAUDE_COMMAND: words(agent('working'), join(scene.place.root, 'notes')),
  })
  // What is loaded with the first turn is no growth of a flood.
  await flood('fine', 1)
  await hello()
})
afterAll(() => scene.close())

const settled = async (id: string) => expect((await server.call('POST', `/v2/sessions/${id}/wait`)).status).toBeLessThan(300)
const textOf = (message: Message | undefined) =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const last = async (id: string) => (await server.messages(id)).at(-1)

/** What another session says meanwhile. */
async function hello(): Promise<string> {
  const { id } = await server.createSession({ externalProvider: 'claude' })
  await server.prompt(id, { prompt: 'say hello' })
  await settled(id)
  return textOf(await last(id))
}

/** Until its turn is over, which is ended where it does not end by itself; everything it asks is refused. */
async function flood(name: string, count: number): Promise<string> {
  const { id } = await server.createSession({ externalProvider: 'codex' })
  await server.prompt(id, { prompt: `FLOOD ${name} ${count}` })
  for (let round = 0; ; round++) {
    const { [id]: status } = await server.statuses()
    if (status === undefined || status.type === 'idle') return id
    const asked = await server.get<{ readonly id: string }[]>(`/v2/interactions/permissions?sessionId=${id}`)
    for (const { id: request } of asked) await server.call('POST', `/v2/interactions/permissions/${request}/reply`, { reply: 'reject' })
    if (round === (ENDLESS[name] ?? ROUNDS)) await server.call('POST', `/v2/sessions/${id}/abort`)
    await delay(50)
  }
}

/** The most MiB that the server has while the work is done. */
async function peak<T>(work: Promise<T>): Promise<readonly [T, number]> {
  let most = residentMiB(server)
  for (let isOver = false; !isOver; isOver = await Promise.race([work.then(() => true), delay(20, false)]))
    most = Math.max(most, residentMiB(server))
  return [await work, most]
}

describe('a hostile external agent', () => {
  test.each(names)('floods with %s', { timeout: 600_000 }, async (name) => {
    const [sample, whole] = FLOODS[name] ?? [1, 1]
    const before = residentMiB(server)
    await longestStall(server)
    const probe = await startProbe(server, '/v2/health', isWhole ? 20 : 100)
    const [[id, said], most] = await peak(Promise.all([flood(name, isWhole ? whole : sample), hello()]))
    const times = await probe.stop()
    const stall = await longestStall(server)
    const { info, parts } = (await last(id)) ?? {}
    const end = info?.role === 'assistant' ? (info.error?.message ?? info.finish) : 'none'
    const figures = { grown: most - before, p99: quantile(times, 0.99), stall }
    process.stdout.write(
      `${name}: grown ${figures.grown.toFixed(0)} MiB, health p99 ${figures.p99.toFixed(0)} ms of ${times.length}, longest stall ${stall.toFixed(0)} ms; ${end}\n`,
    )
    expect(said).toBe('hello')
    expect(figures.grown).toBeLessThan(GROWTH)
    expect(
      await untilNone(() => descendants(server.pid).filter(({ command }) => command.includes('flooding') || command.includes('BOO'))),
    ).toEqual([])
    expect(await server.get(`/v2/interactions/permissions?sessionId=${id}`)).toEqual([])
    expect(server.stderr().length).toBeLessThan(1_000_000)
    // What comes after the end of a turn is no part of it.
    expect((await last(id))?.parts).toEqual(parts)
  })

  test('is heard where it floods nothing', async () => {
    const message = await last(await flood('fine', 1))
    expect([textOf(message), message?.info]).toMatchObject(['fine', { finish: 'stop' }])
  })

  test('is noticed where it is not bounded: what a server holds is seen', async () => {
    const before = residentMiB(server)
    const [, most] = await peak(hold())
    expect(most - before).toBeGreaterThan(0)
  })
})

/** Prompts of many bytes, which a server has to hold: of two sessions, each of which takes so many that wait. */
async function hold(): Promise<void> {
  await Promise.all([1, 2].map(() => holdOne()))
}

async function holdOne(): Promise<void> {
  const { id } = await server.createSession({ externalProvider: 'claude' })
  const prompts = Array.from({ length: 30 }, (_, at) => server.prompt(id, { prompt: `say ${at}${'x'.repeat(900_000)}` }, 'prompt-async'))
  await Promise.all(prompts)
  await server.call('POST', `/v2/sessions/${id}/abort`)
}
