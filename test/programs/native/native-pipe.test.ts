// Holds plugin-protocol §3.6, §4; threat-model C1, C2, C4.
import { describe, expect, test } from 'vitest'
import type { NativeInstance } from '../../../src/programs/native/factory.js'
import { createNativePipe } from '../../../src/programs/native/native-pipe.js'
import type { Plugin } from '../../../src/published/kit/plugin-types.js'

const OWNER = { pluginId: 'dev.example.one', instanceId: 'plugin-instance-1' }

function setUp(plugin: Plugin = {}, make?: (signal: AbortSignal) => Promise<NativeInstance>) {
  const turns: (readonly [side: 'inside' | 'outside', work: () => void])[] = []
  const heard: unknown[] = []
  const failed: unknown[] = []
  const notes: string[] = []
  let shutdowns = 0
  const pipe = createNativePipe({
    inputBacklog: 2000,
    onStdout: (chunk) => heard.push(JSON.parse(Buffer.from(chunk).toString()) as unknown),
    onStderr: (chunk) => notes.push(Buffer.from(chunk).toString()),
    inside: (work) => turns.push(['inside', work]),
    outside: (work) => turns.push(['outside', work]),
    make: make ?? (async () => ({ plugin, shutdown: async () => void shutdowns++ })),
    onFailed: (error) => failed.push(error),
  })
  /** Every turn, until nothing is left to do. */
  const settle = async (): Promise<string[]> => {
    const sides: string[] = []
    for (let idle = 0; idle < 20; ) {
      const turn = turns.shift()
      if (turn === undefined) idle++
      else {
        idle = 0
        sides.push(turn[0])
        turn[1]()
      }
      await Promise.resolve()
    }
    return sides
  }
  const send = (frame: object) => pipe.write(`${JSON.stringify(frame)}\n`)
  const initialize = () =>
    send({ id: 1, method: 'initialize', params: { protocol: 'svc-plugin/2', ...OWNER, directory: '/p', owner: OWNER } })
  return { pipe, heard, failed, notes, turns, settle, send, initialize, shutdowns: () => shutdowns }
}

describe('a plugin in the process', () => {
  test('is spoken to in turns of its own, and answers in turns of the host', async () => {
    const { initialize, settle, heard, turns } = setUp({ name: 'One' })
    initialize()
    expect(heard).toEqual([])
    expect(turns.map(([side]) => side)).toEqual(['inside'])
    expect(await settle()).toEqual(['inside', 'outside'])
    expect(heard).toEqual([expect.objectContaining({ id: 1, result: expect.objectContaining({ name: 'One' }) as object })])
  })

  test('is given what came before it was there, and no more than may wait', async () => {
    let there: (instance: NativeInstance) => void = () => undefined
    const { pipe, initialize, settle, heard, send } = setUp({}, () => new Promise((resolve) => (there = resolve)))
    initialize()
    await settle()
    expect([heard, pipe.waiting > 0]).toEqual([[], true])
    expect(send({ method: 'event', params: { text: 'a'.repeat(3000) } })).toBe(false)
    there({ plugin: {}, shutdown: async () => undefined })
    await settle()
    expect([heard.length, pipe.waiting]).toEqual([1, 0])
  })

  test('waits with what it says while nobody reads', async () => {
    const { pipe, initialize, settle, heard } = setUp()
    pipe.pause()
    initialize()
    await settle()
    expect(heard).toEqual([])
    pipe.resume()
    await settle()
    expect(heard).toHaveLength(1)
  })

  test('that is told to end is shut down once, and has ended then', async () => {
    const { pipe, initialize, send, settle, shutdowns } = setUp()
    initialize()
    await settle()
    send({ method: 'shutdown', params: {} })
    pipe.closeInput()
    await settle()
    expect(await pipe.ended).toEqual({ exitCode: 0, signal: null })
    await pipe.gone
    expect([shutdowns(), pipe.isOver, send({ id: 2, method: 'tool.invoke', params: {} })]).toEqual([1, true, false])
  })

  test('that is killed is heard no more, whatever it is at', async () => {
    let answer: (text: string) => void = () => undefined
    const refused: unknown[] = []
    const { pipe, initialize, send, settle, heard } = setUp({
      tools: [
        {
          id: 'wait',
          description: 'waits',
          parameters: {},
          async execute(_input, { host, signal }) {
            const text = await new Promise<string>((resolve) => (answer = resolve))
            refused.push(signal.aborted, await host.config.get('').catch((error: Error) => error.message))
            return text
          },
        },
      ],
    })
    initialize()
    await settle()
    send({ id: 2, method: 'tool.invoke', params: { tool: 'wait', directory: '/w', input: {} } })
    await settle()
    pipe.kill()
    expect(await pipe.ended).toEqual({ exitCode: null, signal: 'SIGKILL' })
    await pipe.gone
    await settle()
    answer('late')
    await settle()
    expect([heard.length, pipe.isOver, refused]).toEqual([1, true, [true, 'the plugin is shut down']])
  })

  test('that cannot be made says why, and one that comes too late is shut down', async () => {
    const broken = setUp({}, () => Promise.reject(new Error('no such file')))
    await broken.settle()
    expect(broken.failed).toEqual([new Error('no such file')])
    let there: (instance: NativeInstance) => void = () => undefined
    let ends = 0
    const late = setUp({}, () => new Promise((resolve) => (there = resolve)))
    await late.settle()
    late.pipe.kill()
    there({ plugin: {}, shutdown: async () => void ends++ })
    await late.settle()
    expect([ends, late.heard]).toEqual([1, []])
  })
})
