// Holds threat-model §4.12, §7.
/** How fast an agent is heard: counted in messages between two turns of the event loop. */
import { expect, test } from 'vitest'
import type { Earlier } from '../../../src/kernel/message-pace.js'
import { nextTurn } from '../../../src/kernel/pause.js'
import { openAgentLink } from '../../../src/plugins/external/link.js'
import type { ChildPipe, PipeOptions } from '../../../src/ports/effects.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const { inTurn, bytesInTurn } = LIMITS.external.pace

interface AgentOptions {
  readonly most?: number
  readonly earlier?: Earlier
}

/** A program that says what it is made to, and what was heard of it. */
async function agent(options: AgentOptions = {}) {
  let streams: Pick<PipeOptions, 'onStdout'> | undefined
  let exit = (): void => undefined
  const ended = new Promise<void>((resolve) => (exit = resolve)).then(() => ({ exitCode: 0, signal: null }))
  const heard: unknown[] = []
  const told: string[] = []
  const child: Partial<ChildPipe> = {
    write: () => true,
    closeInput: () => undefined,
    kill: () => void told.push('killed'),
    signal: () => true,
    pause: () => void told.push('paused'),
    resume: () => void told.push('resumed'),
    ended,
    gone: Promise.resolve(),
  }
  const link = await openAgentLink({
    ...options,
    open(given) {
      streams = given
      return Promise.resolve(child as ChildPipe)
    },
    onRequest: () => undefined,
    onUpdate: (params) => void heard.push((params as { readonly at: number }).at),
    onEnd: (how) => void told.push(how),
  })
  return {
    link,
    heard,
    told,
    exit,
    /** All of it in one piece; resolves with how much of it is heard at once. */
    async say(count: number, more: object = {}) {
      const message = (at: number) => `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { at, ...more } })}\n`
      streams?.onStdout(Buffer.from(Array.from({ length: count }, (_, at) => message(at)).join('')))
      for (let step = 0; step < 50; step++) await Promise.resolve()
      return heard.length
    },
    /** How much is heard in each turn of the loop in which something is, until nothing more is. */
    async turns(): Promise<number[]> {
      const counts: number[] = []
      for (let quiet = 0, known = heard.length; quiet < 3; known = heard.length) {
        await nextTurn()
        quiet = heard.length === known ? quiet + 1 : 0
        if (quiet === 0) counts.push(heard.length - known)
      }
      return counts
    },
  }
}

test('of what an agent says at once a turn of the event loop hears a part, all is heard in order, and it is not read meanwhile', async () => {
  const { say, heard, told, turns } = await agent()
  const count = 50 * inTurn
  const counts = [await say(count), ...(await turns())]
  expect(Math.max(...counts)).toBeLessThanOrEqual(inTurn)
  expect(counts.length).toBeGreaterThanOrEqual(50)
  expect(heard).toEqual(Array.from({ length: count }, (_, at) => at))
  expect(told).toEqual(['paused', 'resumed'])
})

test('of large messages a turn hears fewer', async () => {
  const { say, heard, turns } = await agent()
  expect([await say(10, { text: 'x'.repeat(bytesInTurn) }), ...(await turns())]).toEqual(Array.from({ length: 10 }, () => 1))
  expect(heard).toHaveLength(10)
})

test('while what it has told is unsettled an agent is neither heard nor read', async () => {
  let settle = (): void => undefined
  const settled = new Promise<void>((resolve) => (settle = resolve))
  let isUnsettled = true
  const { say, heard, told, turns } = await agent({ earlier: { isUnsettled: () => isUnsettled, settled: () => settled } })
  await say(3)
  expect([await turns(), told]).toEqual([[], ['paused']])
  isUnsettled = false
  settle()
  await turns()
  expect([heard, told]).toEqual([
    [0, 1, 2],
    ['paused', 'resumed'],
  ])
})

test('an agent that has ended is heard to its end first; one that is held is heard no more', async () => {
  const first = await agent()
  await first.say(3 * inTurn)
  first.exit()
  await first.turns()
  expect(first.heard).toHaveLength(3 * inTurn)
  expect(first.told).toEqual(['paused', 'resumed', 'its program has ended with code 0'])
  const second = await agent()
  await second.say(3 * inTurn)
  second.link.hold()
  await second.turns()
  expect(second.heard.length).toBeLessThanOrEqual(inTurn)
})

test('an agent that says more than it may in all is ended, and heard no more', async () => {
  const { say, heard, told, turns } = await agent({ most: 5 * inTurn })
  await say(20 * inTurn)
  await turns()
  expect(heard.length).toBeLessThanOrEqual(5 * inTurn)
  expect(told).toEqual(['paused', 'resumed', 'killed', `it sent more than ${5 * inTurn} messages`])
})
