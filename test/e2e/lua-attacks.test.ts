/** Every script of the hostile corpus as a package of one server, beside a plugin that does nobody any harm. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ToolPart } from '../../src/protocol/message.js'
import { type Hostile, NEIGHBOUR, NEIGHBOUR_ROUTE, openWard, type Ward } from './hostile.js'
import { makePlace } from './place.js'
import { household, quantile, residentMiB, settledMiB, startProbe, strangers } from './probe.js'
import { openScene, type Scene } from './server.js'

const FOLDER = new URL('../fixtures/lua-attacks/', import.meta.url)
const BATCH = 8
const MEMORY_MIB = 64
const HEALTH_MS = 500
/** A look at changed packages is waited for, at most a second. */
const NEIGHBOUR_MS = 3000

let scene: Scene
let ward: Ward | undefined
afterEach(async () => {
  await scene.close()
  await ward?.model.close()
})

interface LuaAttack {
  readonly name: string
  readonly tool: string
  readonly source: string
  /** What has to come of it, as the second line of the script says. */
  readonly verdict: string
  readonly detail: string
}

const ATTACKS = readdirSync(FOLDER)
  .toSorted()
  .map((file): LuaAttack => {
    const source = readFileSync(new URL(file, FOLDER), 'utf8')
    const [, verdict = '', detail = ''] = /^-- Tries to .+\n-- Expected: (\w+)(?:: ?(.*))?\n/.exec(source) ?? []
    const name = basename(file, '.lua')
    const tool = name.replaceAll('-', '_')
    return { name, tool, verdict, detail, source: source.replaceAll(`id = 'attack'`, `id = '${tool}'`) }
  })

const idOf = ({ name }: LuaAttack) => `hostile.${name}`

const packageOf = (attack: LuaAttack): Hostile => ({
  id: idOf(attack),
  agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] },
  files: { 'main.lua': attack.source },
})

/** Whether the call came out as the script says. */
function isDeserved({ verdict, detail }: LuaAttack, state: ToolPart['state'] | undefined): boolean {
  if (verdict === 'any') return state?.status === 'completed' || state?.status === 'error'
  // Most return a bare value to whoever calls the sandbox itself, which is no result of a tool.
  if (verdict === 'harmless') return state?.status === 'completed' || (state?.status === 'error' && state.error.endsWith('is no result.'))
  return state?.status === 'error' && state.error.includes(detail)
}

test('hostile scripts hurt only themselves', { timeout: 200_000 }, async () => {
  scene = openScene(makePlace())
  const { place } = scene
  const { server, ...opened } = await openWard(place, () => scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' }))
  ward = opened.ward
  await ward.turn([{ name: 'neighbour', input: {} }])
  const before = await ward.neighbour()
  const home = household(server, place)
  const size = residentMiB(server)
  const health = startProbe(server, '/v2/health', 20)
  const neighbour = startProbe(server, `${NEIGHBOUR_ROUTE}?directory=${place.repo}`, 100)

  for (let next = 0; next < ATTACKS.length; next += BATCH) {
    const batch = ATTACKS.slice(next, next + BATCH)
    await ward.install(batch.map(packageOf))
    const stillborn = batch.filter(({ verdict }) => verdict === 'load')
    const viable = batch.filter(({ verdict }) => verdict !== 'load')
    for (const attack of stillborn) {
      const { diagnostics } = await ward.until(idOf(attack), ['failed'])
      expect.soft(diagnostics[0]).toMatchObject({ code: 'failed', message: expect.stringContaining('did not start') as string })
    }
    await Promise.all(viable.map((attack) => (ward as Ward).until(idOf(attack), ['active'])))
    const states = await ward.turn([...viable.map(({ tool }) => ({ name: tool, input: {} })), { name: 'neighbour', input: {} }])
    const wrong = viable.filter((attack) => !isDeserved(attack, states.get(attack.tool)))
    expect.soft(wrong.map(({ name, tool }) => [name, states.get(tool)])).toEqual([])
    for (const attack of viable.filter(({ verdict }) => verdict === 'trip'))
      expect.soft(await ward.until(idOf(attack), ['degraded'])).toMatchObject({ packageId: idOf(attack) })
    expect.soft(states.get('neighbour')).toMatchObject({ status: 'completed', output: String(before.pid) })
    expect.soft((await ward.records()).get(NEIGHBOUR)).toEqual(before.info)
    ward.remove(batch.map(idOf))
  }
  await ward.records()

  const answers = await health.stop()
  const kept = await neighbour.stop()
  expect.soft(await strangers(() => household(server, place), home, 15_000)).toEqual([])
  const growth = (await settledMiB(server, size + MEMORY_MIB, 10_000)) - size
  const figures = { p50: quantile(answers, 0.5), p99: quantile(answers, 0.99), neighbour: kept.at(-1), growth }
  process.stdout.write(`${JSON.stringify({ answers: answers.length, ...figures })}\n`)
  expect.soft(figures.p99).toBeLessThanOrEqual(HEALTH_MS)
  expect.soft(figures.neighbour).toBeLessThan(NEIGHBOUR_MS)
  expect.soft(growth).toBeLessThanOrEqual(MEMORY_MIB)
  expect(await ward.neighbour()).toEqual(before)
})
