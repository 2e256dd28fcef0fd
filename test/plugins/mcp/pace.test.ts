import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createGuardedHttp } from '../../../src/plugins/mcp/link/guarded-http.js'
import { createRepeats } from '../../../src/plugins/mcp/link/repeats.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

const { inTurn, inWindow, bytesInTurn } = LIMITS.mcp.pace
const encode = (text: string) => new TextEncoder().encode(text)

/** What is read of an answer, piece by piece. */
async function read(pieces: readonly string[], type: string) {
  const { clock, network } = createFakeEffects()
  const told = { floods: 0 }
  const fetch = async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(encode(piece))
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': type } })
  }
  const get = createGuardedHttp({ fetch, network, clock }, { url: 'https://mcp.example/mcp' }, () => told.floods++)
  const reader = (await get('https://mcp.example/mcp')).body?.getReader()
  const chunks: string[] = []
  const readAll = async () => {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done || value === undefined) return undefined
      chunks.push(new TextDecoder().decode(value))
    }
  }
  const fault = await readAll().catch((error: unknown) => String(error))
  return { chunks, fault, ...told }
}

describe('what a server sends over HTTP', () => {
  test('is read so many events in a turn, however they come, and byte for byte', async () => {
    const events = Array.from({ length: 1000 }, (_, index) => `data: ${index}${index % 2 === 0 ? '\n\n' : '\r\n\r\n'}`).join('')
    for (const size of [events.length, 7, 1]) {
      const pieces = events.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      const { chunks, fault } = await read(pieces, 'text/event-stream')
      expect([chunks.join(''), fault]).toEqual([events, undefined])
      const ends = (text: string) => text.split(/(?<=\n)\r?\n/).length - 1
      expect(Math.max(...chunks.map(ends))).toBeLessThanOrEqual(inTurn)
    }
  })

  test.each([['\r'], ['\n'], ['\r\n']])('has its ends wherever a line is empty, as %j says it', async (end) => {
    const events = Array.from({ length: 500 }, (_, index) => `data: ${index}${end}${end}`).join('')
    for (const size of [events.length, 5, 1]) {
      const pieces = events.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      const { chunks, fault } = await read(pieces, 'text/event-stream')
      expect([chunks.join(''), fault]).toEqual([events, undefined])
      expect(Math.max(...chunks.map((text) => text.split('data').length - 1))).toBeLessThanOrEqual(inTurn)
    }
    const flood = await read([`data${end}${end}`.repeat(inWindow + 1)], 'text/event-stream')
    expect(flood).toMatchObject({ fault: 'Error: it sends without end', floods: 1 })
  })

  const { messageContainers } = LIMITS.foreign
  const wide = (count: number) => `{"a":[${'[],'.repeat(count - 1)}[]]}`
  test.each([
    ['an answer', 'application/json', '', ''],
    ['an event', 'text/event-stream', 'data: ', '\n\n'],
    ['an event whose id begins a string', 'text/event-stream', 'id: "\ndata: ', '\n\n'],
    ['an event whose id ends with an escape', 'text/event-stream', 'id: "\\\rdata: ', '\r\r'],
  ])(
    'is refused where %s has more lists than anybody sends, and not where all of them together have',
    async (_what, type, before, after) => {
      const sent = (count: number) => `${before}${wide(count)}${after}`
      const pieces = (text: string) => text.match(/[^]{1,1000}/g) ?? []
      const much = await read(pieces(sent(messageContainers)), type)
      expect(much.fault).toBe(`Error: the server sent a message that has more than ${messageContainers} lists and objects`)
      const little = sent(messageContainers - 2)
      const fine = await read(pieces(type === 'application/json' ? little : little.repeat(3)), type)
      expect(fine.fault).toBeUndefined()
    },
  )

  test('gives others a turn between its parts', async () => {
    let turns = 0
    let isOver = false
    const counting = (async () => {
      while (!isOver) {
        await turn()
        turns++
      }
    })()
    await read(['data: x\n\n'.repeat(inTurn * 50)], 'text/event-stream')
    isOver = true
    await counting
    expect(turns).toBeGreaterThanOrEqual(49)
  })

  test('ends when it is sent without end, and is told of', async () => {
    const many = await read(['\n'.repeat(inWindow + 1)], 'text/event-stream')
    expect(many).toMatchObject({ fault: undefined, floods: 0 })
    const flood = await read(['\n'.repeat(inWindow + 3)], 'text/event-stream')
    expect(flood).toMatchObject({ fault: 'Error: it sends without end', floods: 1 })
  })

  test('is no longer than a turn may have where it is a list of messages', async () => {
    const filler = ' '.repeat(bytesInTurn)
    expect((await read([`[${filler}]`], 'application/json')).fault).toContain(`more than ${bytesInTurn} bytes`)
    expect((await read([`{${filler}}`], 'application/json')).fault).toBeUndefined()
  })
})

describe('that a list has changed', () => {
  const changed = (kind: string, more = {}) => encode(JSON.stringify({ jsonrpc: '2.0', method: `notifications/${kind}`, ...more }))

  test('is read once in the time after which the list is read', () => {
    const clock = { now: 0 }
    const isRepeated = createRepeats(() => clock.now)
    const said = () => ['tools', 'prompts', 'tools'].map((kind) => isRepeated(changed(`${kind}/list_changed`)))
    expect(said()).toEqual([false, false, true])
    clock.now = LIMITS.mcp.changedPause - 1
    expect(said()).toEqual([true, true, true])
    clock.now = LIMITS.mcp.changedPause
    expect(said()).toEqual([false, false, true])
  })

  test.each([
    ['another notification', changed('message')],
    ['one with an id', changed('tools/list_changed', { id: 1 })],
    ['one that is told in another order', encode('{"method":"notifications/tools/list_changed","jsonrpc":"2.0"}'), true],
    ['one with a long text', changed('tools/list_changed', { params: { text: 'x'.repeat(300) } })],
    ['an answer', encode('{"jsonrpc":"2.0","id":1,"result":{"method":"notifications/tools/list_changed"}}')],
  ])('is not what %s says', (_what, line, isToo = false) => {
    const isRepeated = createRepeats(() => 0)
    isRepeated(line)
    expect(isRepeated(line)).toBe(isToo)
  })

  test('is read again where a server makes up many spellings', () => {
    const isRepeated = createRepeats(() => 0)
    for (let spelling = 0; spelling < 100; spelling++)
      expect(isRepeated(changed('tools/list_changed', { params: { spelling } }))).toBe(false)
  })
})
