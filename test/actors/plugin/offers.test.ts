// Holds plugin-protocol §3.4, §4.5: what is offered before its process runs.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { createOffers } from '../../../src/actors/plugin/process/offers.js'
import { createWakers } from '../../../src/actors/plugin/process/wakers.js'
import type { ProcessSpec } from '../../../src/actors/plugin/process/process-spec.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'
import { createFakeClock } from '../../../src/simulation/clock.js'
import { until } from '../../fakes/programs.js'
import { effects, processes, start, type Started } from './started-process.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-offers-')))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const { files } = effects
const running: Started[] = []
let last = 0

/** A program that a server started before; the plugin of the next server. */
async function remembered(fixture: string, overrides: Partial<ProcessSpec> = {}) {
  const directory = join(folder, String(++last))
  const offers = () => createOffers({ effects, directory, version: '1' })
  const next = async (changed: Partial<ProcessSpec> = {}, of = offers()) => {
    const one = await start(fixture, { ...overrides, ...changed }, undefined, { offers: of })
    running.push(one)
    return one
  }
  const first = await next()
  await first.stop()
  const kept = async () => (await files.readDirectory(directory).catch(() => [])).some(({ name }) => /^[0-9a-f]+\.json$/.test(name))
  await until('its offer is kept', kept)
  expect(processes.alive).toBe(0)
  return { next, offers, directory }
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
  await until('every process is gone', () => processes.alive === 0)
})

const never = new AbortController().signal
const MODEL = { providerId: 'parrot', id: 'small' }
const SETTINGS = {
  providerId: 'parrot',
  npm: 'parrot',
  baseURL: undefined,
  apiKey: () => undefined,
  headers: {},
  options: {},
  compatibility: { streamUsage: false, reasoningEffort: false },
}
const MESSAGE = { role: 'user' as const, content: [{ type: 'text' as const, text: 'a b' }] }
const REQUEST = { sessionId: 'ses_1', directory: folder, model: MODEL, messages: [MESSAGE], tools: [], options: {} }

const USES: Readonly<Record<string, (one: Started) => unknown>> = {
  'a tool': async ({ tool }) => expect(await tool('echo', { text: 'hi' })).toBe('hi'),
  'a hook': ({ instance }) => instance.contributions.hooks?.['tool.before']?.({ tool: 'x' }, {}, never),
  'a provider': async ({ instance }) => {
    const parts: StreamPart[] = []
    const adapter = instance.contributions.providers?.[0]?.create(SETTINGS)
    await adapter?.generate(REQUEST, (part) => parts.push(part), never)
    expect(parts.length).toBeGreaterThan(0)
  },
  'a route': ({ instance }) => instance.contributions.routes?.[0]?.handle({ sessionId: null } as never, never).catch(() => undefined),
  'an event': ({ instance }) => instance.contributions.events?.deliver({ type: 'session.idle', properties: {} } as never),
}

describe('a plugin whose offer is known', () => {
  test('offers it before anything runs', async () => {
    const { next } = await remembered('echo')
    const { instance, problems } = await next()
    expect(processes.alive).toBe(0)
    expect(instance).toMatchObject({ name: 'Echo', version: '1.2.3', droppedFrames: 0, leases: [], traffic: { framesOut: 0 } })
    expect(instance.contributions.tools?.map(({ id }) => id)).toEqual(['echo', 'ask', 'inside'])
    expect(problems).toEqual([])
  })

  test.for(Object.keys(USES))('is started by %s', async (name) => {
    const { next } = await remembered('echo')
    const one = await next()
    await USES[name]?.(one)
    await until('it runs', () => processes.alive === 1)
    expect(await one.tool('echo', { text: 'again' })).toBe('again')
    expect(processes.alive).toBe(1)
  })

  test('is started once by many calls, and each is answered', async () => {
    const { next } = await remembered('echo')
    const { tool } = await next()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => tool('echo', { text: String(n) })))
    expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => String(n)))
    expect(processes.alive).toBe(1)
  })

  test('that rests is gone as soon as it is told to end, and is not started by who comes then', async () => {
    const { next } = await remembered('echo')
    const { instance, tool } = await next()
    instance.retire()
    await instance.gone
    await expect(tool('echo', { text: 'late' })).rejects.toThrow('plugin process exited')
    expect(processes.alive).toBe(0)
  })

  test('is started at once where anything of its start is another, and the second time in a server', async () => {
    const { next, offers } = await remembered('echo')
    for (const changed of [
      { config: { more: 1 } },
      { revision: 'sha256:5678' },
      { args: [...argsOf('echo'), 'more'] },
      { env: { OTHER: '1' } },
    ]) {
      const { instance } = await next(changed)
      expect(instance.traffic?.framesOut).toBeGreaterThan(0)
    }
    const of = offers()
    expect((await next({}, of)).instance.traffic?.framesOut).toBe(0)
    expect((await next({}, of)).instance.traffic?.framesOut).toBeGreaterThan(0)
  })
})

function argsOf(fixture: string): string[] {
  return [fileURLToPath(new URL(`../../fixtures/plugins/${fixture}.mjs`, import.meta.url))]
}

/** A program of which nothing tells that it was changed. */
function program(text: string): string {
  const path = join(folder, 'changing.mjs')
  copyFileSync(fileURLToPath(new URL('../../fixtures/plugins/wire.mjs', import.meta.url)), join(folder, 'wire.mjs'))
  writeFileSync(path, text)
  return path
}

const offering = (id: string) => `import { listen, send } from './wire.mjs'
const tools = [{ id: '${id}', description: 'Does.', parameters: { type: 'object' } }]
listen(({ id, method }) => {
  if (method === 'shutdown') process.exit(0)
  if (id !== undefined) send({ id, result: method === 'initialize' ? { protocol: 'svc-plugin/2', tools } : { output: '${id}' } })
})
`

describe('what is known of a plugin', () => {
  test.for([
    ['another tool', (text: string) => text.replaceAll('echo', 'evil')],
    ['its end missing', (text: string) => text.slice(0, -70)],
    ['no line of it', () => ''],
    ['what it told alone', (text: string) => text.split('\n')[0] ?? ''],
  ] as const)('is not believed where its file has %s', async ([, change]) => {
    const { next, directory } = await remembered('echo')
    const [name] = readdirSync(directory)
    const path = join(directory, name ?? '')
    writeFileSync(path, change(readFileSync(path, 'utf8')))
    const { instance } = await next()
    expect(instance.traffic?.framesOut).toBeGreaterThan(0)
    expect(instance.contributions.tools?.map(({ id }) => id)).toEqual(['echo', 'ask', 'inside'])
  })

  test('and is not so any more fails its call, is told, and is known anew', async () => {
    const args = [program(offering('before'))]
    const { next, offers } = await remembered('echo', { args })
    program(offering('after'))
    const of = offers()
    const one = await next({}, of)
    await expect(one.tool('before')).rejects.toThrow('It offers something else than when it was last started')
    expect(await one.instance.failed).toContain('It offers something else')
    await one.instance.gone
    const again = await next({}, of)
    expect(again.instance.contributions.tools?.map(({ id }) => id)).toEqual(['after'])
    await again.stop()
    await until('its new offer is kept', async () => {
      const { instance } = await next()
      return instance.traffic?.framesOut === 0 && instance.contributions.tools?.[0]?.id === 'after'
    })
  })

  test('whose program does not start any more fails its call and has failed', async () => {
    const args = [program(offering('before'))]
    const { next } = await remembered('echo', { args })
    program('process.exit(4)')
    const { instance, tool } = await next()
    await expect(tool('before')).rejects.toThrow('exited with code 4')
    expect(await instance.failed).toContain('exited with code 4')
    await instance.gone
  })

  test('is kept of the youngest, and what is no offer is unknown', async () => {
    const directory = join(folder, 'many')
    for (let n = 0; n < LIMITS.plugins.offers + 3; n++) await files.writeAtomic(join(directory, `${n}.json`), 'no offer')
    const offers = createOffers({ effects, directory, version: '1' })
    await offers.sweep()
    expect(await files.readDirectory(directory)).toHaveLength(LIMITS.plugins.offers)
  })
})

test('what rests is started one after the other, once nothing was added for a while', async () => {
  const clock = createFakeClock()
  const wakers = createWakers(clock)
  const woken: string[] = []
  const settle: (() => void)[] = []
  const add = (name: string) =>
    wakers.add(async () => {
      woken.push(name)
      return new Promise<void>((resolve, reject) => settle.push(name === 'a' ? () => reject(new Error('it fails')) : resolve))
    })
  add('a')
  await clock.advanceAsync(LIMITS.plugins.wakeAfter - 1)
  add('b')
  await clock.advanceAsync(LIMITS.plugins.wakeAfter - 1)
  expect(woken).toEqual([])
  await clock.advanceAsync(1)
  expect(woken).toEqual(['a'])
  settle.shift()?.()
  await clock.advanceAsync(0)
  expect(woken).toEqual(['a', 'b'])
})
