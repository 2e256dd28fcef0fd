/** Every program of the hostile corpus as a package of one server, beside a plugin that does nobody any harm. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { PLUGIN_ATTACKS, type PluginAttack } from '../../fixtures/plugin-attacks/table.js'
import { type Hostile, keepVigil, NEIGHBOUR, openWard, WARD, type Ward } from '../../e2e/plugin/hostile.js'
import { makePlace, type Place } from '../../e2e/server/place.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'
import { sample, SEED, WHOLE } from '../scale.js'

const FOLDER = fileURLToPath(new URL('../../fixtures/plugin-attacks', import.meta.url))
const CONVERSATION = readFileSync(join(FOLDER, 'conversation.mjs'), 'utf8')
const BATCH = 12

let scene: Scene
let ward: Ward | undefined
afterEach(async () => {
  await scene.close()
  await ward?.model.close()
})

const nameOf = ({ file }: PluginAttack) => basename(file, '.mjs')
const idOf = (attack: PluginAttack) => `hostile.${nameOf(attack)}`
const toolOf = (attack: PluginAttack) => nameOf(attack).replaceAll('-', '_')
const attackOf = (name: string) => PLUGIN_ATTACKS.filter((attack) => nameOf(attack) === name)

function packageOf(attack: PluginAttack): Hostile {
  const { file, call, capabilities = [] } = attack
  return {
    id: idOf(attack),
    agent: { command: ['node', 'plugin.mjs', toolOf(attack)], capabilities },
    files: { 'plugin.mjs': readFileSync(join(FOLDER, file), 'utf8'), 'conversation.mjs': CONVERSATION },
    options: { timeoutMs: call?.timeoutMs ?? (call?.outcome === 'answers' ? 20_000 : 1000) },
  }
}

interface Outcome {
  readonly outcome: 'answers' | 'fails'
  readonly output: string
}

function toolOutcome(state: ToolPart['state'] | undefined): Outcome {
  if (state?.status === 'completed') return { outcome: 'answers', output: state.output }
  return { outcome: 'fails', output: state?.status === 'error' ? state.error : `it is ${state?.status}` }
}

/** Opens the socket of an attack and hears it out. */
function socketOutcome({ url }: Server, { repo }: Place, attack: PluginAttack): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v2/plugins/${idOf(attack)}/attack?directory=${repo}`)
    socket.on('error', (error) => resolve({ outcome: 'fails', output: error.message }))
    socket.on('close', (code, reason) => resolve({ outcome: code === 1000 ? 'answers' : 'fails', output: `${code} ${reason.toString()}` }))
  })
}

/** Calls everything in a batch, all at once, and tells by name what came of it. */
async function strike(server: Server, place: Place, { turn, until }: Ward, batch: readonly PluginAttack[]) {
  await Promise.all(batch.map((attack) => until(idOf(attack), ['active'])))
  const byTool = batch.filter(({ call }) => call?.kind === 'tool')
  const bySocket = batch.filter(({ call }) => call?.kind === 'socket')
  const calls = byTool.map((attack) => ({ name: toolOf(attack), input: attack.call?.input ?? {} }))
  const [states, sockets] = await Promise.all([
    turn([...calls, { name: 'neighbour', input: {} }]),
    Promise.all(bySocket.map((attack) => socketOutcome(server, place, attack))),
  ])
  return Object.fromEntries<Outcome | undefined>([
    ...byTool.map((attack) => [nameOf(attack), toolOutcome(states.get(toolOf(attack)))] as const),
    ...bySocket.map((attack, index) => [nameOf(attack), sockets[index]] as const),
    ['neighbour', toolOutcome(states.get('neighbour'))],
  ])
}

function wanted(batch: readonly PluginAttack[]): Record<string, unknown> {
  const called = batch.flatMap((attack) => {
    if (attack.call === undefined) return []
    const { outcome, output = '', not = '(?!)' } = attack.call
    const said: unknown = expect.toSatisfy((text: string) => new RegExp(output).test(text) && !new RegExp(not).test(text))
    const any: unknown = expect.anything()
    return [[nameOf(attack), { outcome: outcome === 'either' ? any : outcome, output: said }] as const]
  })
  return Object.fromEntries(called)
}

/** What the records say of a batch that was called, by name: its diagnostics, or the state it was in by itself. */
async function verdicts({ until, records }: Ward, batch: readonly PluginAttack[]): Promise<Record<string, readonly string[]>> {
  const ended = batch.filter(({ expected }) => expected === 'active-then-degraded')
  const states = await Promise.all(ended.map((attack) => until(idOf(attack), ['degraded', 'failed'])))
  const found = await records()
  const codes = (attack: PluginAttack) => found.get(idOf(attack))?.diagnostics.map(({ code }) => code) ?? ['unknown']
  return Object.fromEntries([
    ...batch.map((attack) => [nameOf(attack), codes(attack)] as const),
    ...ended.map((attack, index) => [nameOf(attack), [states[index]?.state ?? '', ...codes(attack)]] as const),
  ])
}

function deserved(batch: readonly PluginAttack[]): Record<string, unknown> {
  return Object.fromEntries(
    batch.map((attack): [string, unknown] => {
      const { expected, diagnostic, call } = attack
      const shown = [...(expected === 'active-then-degraded' ? ['degraded'] : []), ...(diagnostic === undefined ? [] : [diagnostic])]
      const isSpotless = shown.length === 0 && expected === 'active-harmless' && call?.outcome !== 'either'
      const some: unknown = expect.arrayContaining(shown)
      return [nameOf(attack), isSpotless ? [] : some]
    }),
  )
}

test(`hostile plugins hurt only themselves, seed ${SEED}`, { timeout: 200_000 }, async () => {
  scene = openScene(makePlace())
  const { place } = scene
  const outside = join(place.root, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'file'), 'secret')
  for (const link of PLUGIN_ATTACKS.flatMap(({ links = [] }) => links))
    symlinkSync(link.endsWith('file') ? join(outside, 'file') : outside, join(place.repo, link))
  const { server, ...opened } = await openWard(place, () => scene.start(WARD))
  ward = opened.ward
  const { before, ...vigil } = await keepVigil(server, place, ward)

  // They run into their deadlines while the others are called.
  const attacks = sample(PLUGIN_ATTACKS, 2 * BATCH)
  const stillborn = attacks.filter(({ expected }) => expected === 'never-active')
  await ward.install(stillborn.map(packageOf))
  const viable = attacks.filter((attack) => !stillborn.includes(attack) && nameOf(attack) !== 'hook-nonsense')
  for (let next = 0; next < viable.length; next += BATCH) {
    const batch = viable.slice(next, next + BATCH)
    await ward.install(batch.map(packageOf))
    const neighbours = { neighbour: { outcome: 'answers', output: String(before.pid) } }
    expect.soft(await strike(server, place, ward, batch)).toEqual({ ...wanted(batch), ...neighbours })
    expect.soft(await verdicts(ward, batch)).toEqual(deserved(batch))
    expect.soft((await ward.records()).get(NEIGHBOUR)).toEqual(before.info)
    ward.remove(batch.map(idOf))
    if (next === (WHOLE ? 2 * BATCH : 0)) await vigil.warm()
  }
  for (const attack of stillborn) {
    const failed = await ward.until(idOf(attack), ['failed'])
    expect.soft(failed.diagnostics[0]).toMatchObject({ code: 'failed', message: expect.stringMatching(/^[^\p{C}]{10,}$/u) as string })
  }
  ward.remove(stillborn.map(idOf))
  await ward.records()
  await vigil.end()
})

test('a plugin whose hooks answer nonsense fails the calls they guard by its name, and no run, until it is taken out', async () => {
  scene = openScene(makePlace())
  const { server, stream, ...opened } = await openWard(scene.place, () => scene.start(WARD))
  ward = opened.ward
  const nonsense = attackOf('hook-nonsense')
  const before = await ward.neighbour()
  await ward.install(nonsense.map(packageOf))
  await ward.until('hostile.hook-nonsense', ['active'])
  expect((await ward.turn([{ name: 'neighbour', input: {} }])).get('neighbour')).toMatchObject({
    status: 'error',
    error: expect.stringContaining('Plugin hostile.hook-nonsense: The answer of the hook "tool.before" is not usable') as string,
  })
  expect(ward.model.requests).toHaveLength(2)
  expect(stream.events.filter(({ type }) => type === 'session.error')).toEqual([])
  const degraded = await ward.until('hostile.hook-nonsense', ['degraded'])
  expect(degraded).toMatchObject({
    leaseActive: true,
    diagnostics: [{ code: 'degraded', message: expect.stringContaining('hook') as string }],
  })
  expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
  ward.remove(nonsense.map(idOf))
  await ward.records()
  expect((await ward.turn([{ name: 'neighbour', input: {} }])).get('neighbour')).toMatchObject({ output: String(before.pid) })
  expect(await ward.neighbour()).toEqual(before)
})
