/** The acceptance cases of language servers, by name (subsystems q.8). */
import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { LspStatus } from '../../../src/protocol/lsp/lsp.js'
import { openLsp, scripted } from './fixture.js'

type Lsp = ReturnType<typeof openLsp>

const open = (habit: string) => openLsp({ it: { command: scripted(habit), extensions: ['it'] } })
const HOVER = { file: 'a.it', line: 0, character: 0 }
const diagnostics = async (lsp: Lsp) =>
  (await lsp.call('diagnostics', { file: 'a.it' })) as { message: string; range: { start: object; end: object } }[]
const messages = async (lsp: Lsp) => (await diagnostics(lsp)).map(({ message }) => message)
const statusOf = async (lsp: Lsp) => LspStatus.array().parse(await lsp.call('status'))[0]

describe('diagnostics versioning', () => {
  it('ignores a late publication of version n after the change to n + 1', async () => {
    const lsp = open('late')
    lsp.write('a.it', 'bad')
    expect(await messages(lsp)).toEqual(['bad in version 0'])
    lsp.write('a.it', 'bad still')
    expect(await messages(lsp)).toEqual(['bad in version 1'])
    await lsp.call('hover', HOVER) // What came too late has come.
    expect(await messages(lsp)).toEqual(['bad in version 1'])
    lsp.write('a.it', 'good')
    expect(await messages(lsp)).toEqual([])
    await lsp.call('hover', HOVER)
    expect(await messages(lsp)).toEqual([])
  })

  it('takes what has no version for what it says of the text that is known', async () => {
    const lsp = open('unversioned')
    lsp.write('a.it', 'bad')
    expect(await messages(lsp)).toEqual(['bad in version 0'])
    lsp.write('a.it', 'good')
    expect(await messages(lsp)).toEqual([])
  })
})

describe('a server that has not looked yet', () => {
  it('is given a moment when it says that nothing is wrong with a file it was just told of', async () => {
    const lsp = open('hasty')
    lsp.write('a.it', 'bad')
    expect(await messages(lsp)).toEqual(['bad in version 0'])
    lsp.write('b.it', 'good')
    const begun = lsp.clock.monotonic()
    expect(await lsp.settled(lsp.call('diagnostics', { file: 'b.it' }))).toEqual([])
    expect(lsp.clock.monotonic() - begun).toBeGreaterThanOrEqual(LIMITS.lsp.settle)
    lsp.write('b.it', 'better') // It was told before: it is believed.
    expect(await lsp.call('diagnostics', { file: 'b.it' })).toEqual([])
  })
})

describe('encodings', () => {
  it.each(['utf-16', 'none said'])('tells byte columns of an emoji line from a server that counts in utf-16 (%s)', async (encoding) => {
    const lsp = open(encoding)
    const before = 'ä😀👍🏽 '
    lsp.write('a.it', `${before}bad\r\n`)
    const column = Buffer.byteLength(before) + 1
    expect((await diagnostics(lsp))[0]?.range).toEqual({ start: { line: 1, character: column }, end: { line: 1, character: column + 3 } })
  })
})

describe('a crash', () => {
  it('is an empty answer for the question it happened in, two seconds of rest, then a new start; the last diagnostics stay', async () => {
    const lsp = open('killed')
    lsp.write('a.it', 'bad')
    expect(await messages(lsp)).toEqual(['bad in version 0'])
    expect(await lsp.call('hover', HOVER)).toEqual([])
    await expect.poll(async () => (await statusOf(lsp))?.detected.message).toBe('its program was ended by SIGKILL')
    await expect.poll(() => lsp.alive()).toBe(0)
    lsp.write('a.it', 'good')
    let answered: unknown
    const next = lsp.call('definition', HOVER).then((answer) => (answered = answer))
    lsp.clock.advance(LIMITS.lsp.retry.first - 1)
    expect([LIMITS.lsp.retry.first, await statusOf(lsp), lsp.alive(), answered]).toMatchObject([2000, { status: 'error' }, 0, undefined])
    lsp.clock.advance(1)
    expect(await next).toHaveLength(1)
    expect([(await statusOf(lsp))?.status, lsp.alive()]).toEqual(['connected', 1])
    expect(await lsp.settled(messages(lsp))).toEqual([])
  })

  it('leaves what was found until something new is said', async () => {
    const lsp = open('killed')
    lsp.write('a.it', 'bad')
    expect(await messages(lsp)).toEqual(['bad in version 0'])
    await lsp.call('hover', HOVER)
    await expect.poll(async () => (await statusOf(lsp))?.status).toBe('error')
    const meanwhile = messages(lsp)
    lsp.clock.advance(LIMITS.lsp.retry.first)
    expect(await meanwhile).toEqual(['bad in version 0'])
  })
})
