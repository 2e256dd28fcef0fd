import { describe, expect, test } from 'vitest'
import type { SimulatedWorld, SimulationOptions } from '../../../src/published/testing/simulated/simulate-types.js'
import { simulate } from '../../../src/published/testing/testing.js'

const HOUR = 3_600_000
const echo = {
  id: 'dev.example.echo',
  plugin: { tools: [{ id: 'echo', description: 'Echoes.', parameters: { type: 'object' }, execute: () => 'echoed' }] },
}
/** Calls the tool once for each prompt. */
const callsEcho: SimulationOptions['model'] = ({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'said' : { calls: [{ tool: 'echo', input: {} }] }
const daily = (time: string) => `---
id: report
name: Report
active: true
schedule: { frequency: daily, time: "${time}", timezone: local }
---

Write the report.
`

async function talk({ sessions }: SimulatedWorld): Promise<string[]> {
  const session = await sessions.create()
  const said = [await sessions.ask(session, 'one'), await sessions.ask(session, 'two')]
  return [...said, ...sessions.messages(session).map(({ info }) => info.role)]
}

describe('a simulated world', () => {
  test('has sessions, files and the API', async () => {
    const options = { at: '2026-10-25T00:30:00Z', zone: 'Europe/Berlin', files: { 'a.txt': 'hello' }, model: () => 'Good.' }
    const answer = await simulate(options, async (world) => {
      expect(await talk(world)).toEqual(['Good.', 'Good.', 'user', 'assistant', 'user', 'assistant'])
      expect(await world.files.read('a.txt')).toBe('hello')
      expect(world.clock.local('2026-10-25T01:30:00Z')).toBe('2026-10-25 02:30')
      const { status, body } = await world.call('POST', '/v2/sessions', { title: 'Mine' })
      expect([status, body.title]).toEqual([200, 'Mine'])
      expect((await world.call('GET', '/v2/nothing')).status).toBe(404)
      expect(world.logs).toEqual([])
      return world.lives
    })
    expect(answer).toBe(1)
  })

  test('plays the same again, and something else from another seed', async () => {
    const play = (seed: number) =>
      simulate({ seed, plugins: [echo], model: callsEcho, faults: { hostDies: { every: { seconds: 3 } } } }, async (world) => {
        await talk(world)
        await world.clock.advance({ seconds: 20 })
        await talk(world)
        return { trace: world.trace, lives: world.lives, moments: world.moments.map(({ says }) => says) }
      })
    const first = await play(4)
    expect(first.lives).toBeGreaterThan(2)
    expect(await play(4)).toEqual(first)
    expect((await play(5)).trace).not.toBe(first.trace)
  })

  test('keeps what was answered when the process dies, and when the power goes', async () => {
    await simulate({ model: () => 'Good.', inspect: true }, async (world) => {
      const session = await world.sessions.create()
      for (const how of ['kill', 'power'] as const) {
        await world.sessions.ask(session, how)
        await world.kill(how)
        expect(world.isUp).toBe(false)
        expect(() => world.sessions.messages(session)).toThrow('the host is away')
        const before = world.clock.now
        await world.clock.advance({ hours: 1 })
        expect(world.clock.now).toBe(before + HOUR)
        await world.start()
      }
      await world.stop()
      await world.start()
      expect(world.sessions.messages(session).map(({ info }) => info.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
      expect(world.lives).toBe(4)
      const { format, records } = world.inspected()
      expect(format).toBe('svc-inspector-trace')
      expect(records.length).toBeGreaterThan(0)
      expect(world.events.map(({ sequence }) => sequence)).toEqual(world.events.map(({ sequence }) => sequence).toSorted((a, b) => a - b))
    })
  })

  test('dies before a frame is heard: the plugin did it, and svc does not know', async () => {
    const told: string[] = []
    const plugin = { tools: [{ ...echo.plugin.tools[0], execute: () => told.push('called') && 'echoed' }] } as typeof echo.plugin
    const at = (says: string) =>
      simulate(
        { plugins: [{ ...echo, plugin }], model: callsEcho, faults: { hostDies: { at: (moment) => moment.says === says } } },
        async (world) => {
          const session = await world.sessions.create()
          await world.sessions.ask(session, 'echo')
          const [part] = world.sessions.messages(session).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool'))
          const calls = told.splice(0).length
          return [calls, part?.type === 'tool' ? part.state.status : 'none', world.lives]
        },
      )
    // A life to be approved in, one that dies, and one after it.
    expect(await at('svc asks tool.invoke echo')).toEqual([0, 'error', 3])
    expect(await at('plugin answers tool.invoke echo')).toEqual([1, 'error', 3])
    expect(await at('nobody says this')).toEqual([1, 'completed', 2])
  })

  test('sleeps while nothing is due, and misses nothing', async () => {
    const options = { at: '2026-03-28T12:00:00Z', zone: 'Europe/Berlin', workflows: { report: daily('02:30') } }
    const ran = await simulate(options, async (world) => {
      await world.clock.advance({ days: 3 })
      return (await world.workflows.runs('report')).map(({ scheduledAt, startedAt, status }) => [
        world.clock.local(scheduledAt),
        Number(startedAt) - scheduledAt < 1000,
        status,
      ])
    })
    expect(ran).toEqual([
      ['2026-03-31 02:30', true, 'completed'],
      ['2026-03-30 02:30', true, 'completed'],
      ['2026-03-29 03:00', true, 'completed'],
    ])
  })

  test('runs what was missed while the host was away once, and nothing twice', async () => {
    const workflows = { report: daily('09:00') }
    const times = await simulate({ at: '2026-01-05T08:00:00Z', workflows }, async (world) => {
      await world.clock.advance({ hours: 2 })
      await world.kill('power')
      await world.clock.advance({ days: 3 })
      await world.start()
      await world.clock.advance({ minutes: 1 })
      return (await world.workflows.runs('report')).map(({ scheduledAt }) => world.clock.local(scheduledAt))
    })
    expect(times).toEqual(['2026-01-08 09:00', '2026-01-05 09:00'])
  })

  test('waits for what takes time, and says what did not happen within an hour', async () => {
    await simulate({ model: ({ asked }) => ({ says: 'At last.', takes: { minutes: asked === 0 ? 50 : 120 } }) }, async (world) => {
      const session = await world.sessions.create()
      const before = world.clock.now
      expect(await world.sessions.ask(session, 'one')).toBe('At last.')
      expect(Math.floor((world.clock.now - before) / 60_000)).toBe(50)
      await expect(world.sessions.ask(session, 'two')).rejects.toThrow(`the session ${session.id} is idle: not within an hour`)
      await expect(world.until('never')).rejects.toThrow('an event "never": not within an hour')
    })
  })

  test('refuses what cannot be', async () => {
    await simulate({}, async ({ clock, plugin, inspected }) => {
      expect(() => inspected()).toThrow('nothing is recorded')
      expect(() => clock.advance({ hours: -1 })).toThrow('time passes forward')
      expect(() => clock.advanceTo('2025-01-01')).toThrow('is past')
      expect(() => clock.advance(Number.NaN)).toThrow('is no duration')
      expect(() => plugin('x')).toThrow('no plugin "x" is simulated; there are none')
    })
    await expect(simulate({ files: { '../x': '' } }, async () => undefined)).rejects.toThrow('is not in the workspace')
  })
})
