// Holds http-contract §2.15, §5.11; subsystems d.10.
import type { SocketOpening } from '../../../src/ports/contributions.js'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/protocol/caller.js'
import type { Pty } from '../../../src/protocol/terminal/pty.js'
import { openStore } from '../../../src/store/open.js'
import type { PlayedTerminal } from '../../../src/simulation/terminals.js'
import { type PtyPlace, startPty } from './fixture.js'

const STRANGER: Caller = { subject: 'hosted:other', tenantId: 'other', authenticated: true, operator: false, directoryPrefixes: undefined }
const MiB = 1024 * 1024

/** The latest program, once it is there. */
async function program({ effects }: PtyPlace, number = 1): Promise<PlayedTerminal> {
  while (effects.terminals.opened.length < number) await turn()
  await turn()
  const opened = effects.terminals.opened[number - 1]
  if (opened === undefined) throw new Error('no program was started')
  return opened
}

const at = (id: string) => ({ params: { pty_id: id } })
const ofType = ({ events }: PtyPlace, prefix: string) =>
  events.filter(({ type }) => type.startsWith(prefix)).map(({ type, data }) => ({ type, data }))
async function settled(turns = 8): Promise<void> {
  for (let count = 0; count < turns; count++) await turn()
}

describe('terminals', () => {
  test('are created without a program, listed, changed and removed, each with its event', async () => {
    const place = await startPty()
    const first = await place.create({ command: [' /bin/cat ', ' ', '-u'], title: '  logs ' })
    expect(first).toEqual({
      id: expect.stringMatching(/^pty_/),
      command: ['/bin/cat', '-u'],
      cwd: place.directory,
      title: 'logs',
      time: place.effects.clock.now(),
    })
    const second = await place.create({})
    expect(second).toMatchObject({ title: 'shell', command: [expect.stringMatching(/^\/.*sh$/), ...second.command.slice(1)] })
    expect(place.effects.terminals.opened).toEqual([])
    expect(await place.call('list')).toEqual([first, second])
    expect(await place.call('get', at(first.id))).toEqual(first)

    const deeper = join(place.directory, 'deeper')
    mkdirSync(deeper)
    const changed = { ...first, title: 'other', cwd: realpathSync(deeper) }
    expect(await place.call('update', { ...at(first.id), body: { title: 'other', cwd: 'deeper' } })).toEqual(changed)
    expect(await place.call('update', { ...at(first.id), body: { title: ' ', cwd: '', size: { cols: 10, rows: 5 } } })).toEqual(changed)
    expect(await place.call('remove', at(first.id))).toBe(true)
    expect(await place.call('list')).toEqual([second])
    await expect(place.call('get', at(first.id))).rejects.toMatchObject({ code: 'resource.not_found' })
    await expect(place.call('remove', at(first.id))).rejects.toMatchObject({ code: 'resource.not_found' })

    const data = (info: Pty) => ({ id: info.id, ptyID: info.id, info })
    expect(ofType(place, 'pty.')).toEqual([
      { type: 'pty.created', data: data(first) },
      { type: 'pty.created', data: data(second) },
      { type: 'pty.updated', data: data(changed) },
      { type: 'pty.deleted', data: data(changed) },
    ])
  })

  test('keep both of two changes that are made at the same time', async () => {
    const place = await startPty()
    const { id } = await place.create({})
    mkdirSync(join(place.directory, 'deeper'))
    const change = (body: object) => place.call('update', { ...at(id), body })
    await Promise.all([change({ cwd: 'deeper' }), change({ title: 'other' })])
    expect(await place.call('get', at(id))).toMatchObject({ title: 'other', cwd: realpathSync(join(place.directory, 'deeper')) })
  })

  test("refuse a directory that is none, and are nobody else's", async () => {
    const place = await startPty()
    await expect(place.create({ cwd: 'missing' })).rejects.toMatchObject({ code: 'request.invalid_directory' })
    const { id } = await place.create()
    await expect(place.call('update', { ...at(id), body: { cwd: '/etc/passwd' } })).rejects.toMatchObject({
      code: 'request.invalid_directory',
    })
    for (const operation of ['get', 'remove', 'connectToken']) {
      await expect(place.call(operation, { ...at(id), caller: STRANGER, headers: { 'x-svc-ticket': '1' } })).rejects.toMatchObject({
        code: 'resource.not_found',
      })
    }
    expect(await place.call('list', { caller: STRANGER })).toEqual([])
  })

  test('are at most 64', async () => {
    const place = await startPty()
    const made = await Promise.allSettled(Array.from({ length: 70 }, () => place.create({ command: ['cat'] })))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(64)
    expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'quota.exceeded' } })
    const [one] = (await place.call('list')) as Pty[]
    await place.call('remove', at(one?.id ?? ''))
    await place.create({ command: ['cat'] })
  })

  test.each([
    ['/bin/sh', ['/bin/sh']],
    [{ program: '/bin/sh', args: ['-i'] }, ['/bin/sh', '-i']],
    ['zsh', ['zsh']],
    ['/nonexistent/sh', undefined],
    ['relative/sh', undefined],
  ])('begin with the configured shell %j where it is there', async (shell, command) => {
    const usual = (await (await startPty()).create({})).command
    const place = await startPty(undefined, { shell })
    expect((await place.create({})).command).toEqual(command ?? usual)
    expect((await place.create({ command: ['/bin/cat'] })).command).toEqual(['/bin/cat'])
  })

  test('tell of the shells of this machine', async () => {
    const place = await startPty()
    const shells = (await place.call('shells')) as { path: string; name: string; acceptable: boolean }[]
    expect(shells).toContainEqual({ path: '/bin/sh', name: 'sh', acceptable: true })
    expect(shells.map(({ path }) => path)).toEqual(shells.map(({ path }) => path).toSorted())
  })

  test('are not offered where there is no binding, and the reason is told', async () => {
    const place = await startPty()
    place.effects.terminals.reason = 'it was not compiled.'
    await expect(place.create()).rejects.toMatchObject({
      code: 'feature.not_implemented',
      message: expect.stringContaining('it was not compiled.'),
    })
    const capabilities = await place.runtime.system.capabilities(place.directory)
    expect(capabilities.find(({ id }) => id === 'svc.pty')).toMatchObject({
      enabled: false,
      reason: 'it was not compiled.',
      pluginId: 'dev.svc.pty',
      apiPrefix: '/v2/plugins/dev.svc.pty',
    })
  })
})

describe('a ticket', () => {
  const refused = { code: 'request.forbidden' }

  test('is issued for the header alone, and never twice the same', async () => {
    const place = await startPty()
    const { id } = await place.create()
    for (const headers of [{}, { 'x-svc-ticket': '' }, { 'x-svc-ticket': 'true' }]) {
      await expect(place.call('connectToken', { ...at(id), headers })).rejects.toMatchObject(refused)
    }
    await expect(place.call('connectToken', at('pty_none'))).rejects.toMatchObject({ code: 'resource.not_found' })
    const answer = await place.call('connectToken', { ...at(id), headers: { 'x-svc-ticket': '1' } })
    expect(answer).toEqual({ ticket: expect.stringMatching(/^[\w-]{32}$/), expires_in: 30 })
    expect(await place.ticket(id)).not.toBe(await place.ticket(id))
  })

  test('serves once, for its terminal, for 30 s', async () => {
    const place = await startPty()
    const { plugins } = place.runtime
    const [one, other] = [await place.create(), await place.create()]
    const open = (id: string, opening: SocketOpening) =>
      opening({
        caller: STRANGER,
        directory: '',
        params: { pty_id: id },
        query: {},
        headers: {},
        body: undefined,
        signal: new AbortController().signal,
      })
    const arrive = (ticket: string) => plugins.present('v2.plugins.pty.connect', ticket)
    const present = (id: string, ticket: string) => open(id, arrive(ticket))
    await expect(present('pty_none', await place.ticket(one.id))).rejects.toMatchObject({ code: 'resource.not_found' })
    await expect(present(one.id, '')).rejects.toMatchObject(refused)
    await expect(present(one.id, 'guessed')).rejects.toMatchObject(refused)

    const used = await place.ticket(one.id)
    expect((await present(one.id, used)).caller.subject).toBe('local')
    await expect(present(one.id, used)).rejects.toMatchObject(refused)

    const dropped = await place.ticket(one.id)
    const first = arrive(dropped)
    await expect(present(one.id, dropped)).rejects.toMatchObject(refused)
    expect((await open(one.id, first)).caller.subject).toBe('local')

    const misplaced = await place.ticket(one.id)
    await expect(present(other.id, misplaced)).rejects.toMatchObject(refused)
    await expect(present(one.id, misplaced)).rejects.toMatchObject(refused)

    const [fresh, late] = [await place.ticket(one.id), await place.ticket(one.id)]
    place.effects.clock.advance(29_999)
    await present(one.id, fresh)
    place.effects.clock.advance(1)
    await expect(present(one.id, late)).rejects.toMatchObject(refused)
  })
})

describe('a connection', () => {
  test('starts the program with the size that was asked for, and an environment of its own', async () => {
    const place = await startPty()
    const { id } = await place.create({ command: ['/bin/cat'] })
    await place.call('update', { ...at(id), body: { size: { cols: 100, rows: 30 } } })
    const viewer = await place.connect(id)
    const { options, ...played } = await program(place)
    expect(options).toMatchObject({
      command: '/bin/cat',
      args: [],
      cwd: place.directory,
      cols: 100,
      rows: 30,
      env: { PATH: '/usr/bin:/bin', TERM: 'xterm-256color', SVC_TERMINAL: '1' },
    })
    expect(played.pid).toBeGreaterThan(0)
    await place.call('update', { ...at(id), body: { size: { cols: 120, rows: 40 } } })
    expect((await program(place)).size).toEqual({ cols: 120, rows: 40 })
    expect(viewer.cursors).toEqual([0])
  })

  test('carries output with its cursor, and input, also what was typed before the program was there', async () => {
    const place = await startPty()
    const { id } = await place.create()
    let start: () => void = () => undefined
    place.effects.terminals.gate = new Promise((resolve) => (start = resolve))
    const viewer = await place.connect(id)
    void viewer.type('early ')
    start()
    const played = await program(place)
    void viewer.type('late')
    void viewer.socket.take({ kind: 'binary', data: Uint8Array.of(0, 1, 2) })
    void viewer.socket.take({ kind: 'binary', data: Uint8Array.of(0x21) })
    expect(played.input).toBe('early late!')
    played.say('one 😀')
    await viewer.until('one 😀')
    played.say('two')
    await viewer.until('two')
    expect(viewer.cursors).toEqual([0, 6, 9])
  })

  test('is replayed to from its cursor, and several see the same', async () => {
    const place = await startPty()
    const { id } = await place.create()
    const first = await place.connect(id)
    const played = await program(place)
    played.say('0123456789')
    await first.until('9')
    const [all, some, live] = [await place.connect(id), await place.connect(id, 4), await place.connect(id, -1)]
    await some.until('9')
    played.say('ab')
    await Promise.all([first, all, some, live].map((viewer) => viewer.until('b')))
    expect([first, all, some, live].map((viewer) => viewer.text())).toEqual(['0123456789ab', '0123456789ab', '456789ab', 'ab'])
    expect([all, some, live].map(({ cursors }) => cursors.at(-1))).toEqual([12, 12, 12])
    expect(place.effects.terminals.opened).toHaveLength(1)
  })

  test('is closed after the last output when the program exits; the next one starts it anew, from cursor 0', async () => {
    const place = await startPty()
    const { id } = await place.create()
    const viewer = await place.connect(id)
    const played = await program(place)
    played.say('last words')
    played.exit(7)
    await viewer.closed
    expect(viewer.text()).toBe('last words')
    await place.until(({ type }) => type === 'pty.exited')
    expect(ofType(place, 'pty.exited')).toEqual([{ type: 'pty.exited', data: { id, ptyID: id, exitStatus: 7 } }])

    const again = await place.connect(id, 5)
    const next = await program(place, 2)
    next.say('anew')
    await again.until('anew')
    expect(again.text()).toBe('anew')
    next.exit(null)
    await again.closed
    await settled()
    expect(ofType(place, 'pty.exited').at(-1)?.data).toEqual({ id, ptyID: id, exitStatus: null })
  })

  test('gets one message when the program cannot be started, and may try again', async () => {
    const place = await startPty()
    const { id } = await place.create()
    place.effects.terminals.refusal = new Error('There is no such program.')
    const viewer = await place.connect(id)
    await viewer.closed
    expect(viewer.text()).toBe('There is no such program.\r\n')
    await settled()
    place.effects.terminals.refusal = undefined
    const again = await place.connect(id)
    ;(await program(place)).say('here')
    await again.until('here')
  })

  test('makes the program wait while it alone is far behind, and loses nothing', async () => {
    const place = await startPty()
    const { id } = await place.create()
    const viewer = await place.connect(id)
    const played = await program(place)
    await settled()
    viewer.stall()
    played.say('begin')
    await viewer.until('begin')
    for (let count = 0; count < 20; count++) {
      played.say('x'.repeat(64 * 1024))
      if (played.isPaused) break
    }
    expect(played.isPaused).toBe(true)
    viewer.go()
    while (played.isPaused) await turn()
    played.say('end')
    await viewer.until('end')
    expect(viewer.text()).toMatch(/^beginx+end$/)
    expect(viewer.text().length).toBe(viewer.cursors.at(-1))
  })

  test('that is slow stalls nobody else, and goes on with what is kept, told how much it has lost', async () => {
    const place = await startPty()
    const { id } = await place.create()
    const [quick, slow] = [await place.connect(id), await place.connect(id)]
    const played = await program(place)
    await settled()
    slow.stall()
    played.say('begin')
    await Promise.all([quick.until('begin'), slow.until('begin')])
    for (let count = 0; count < 80; count++) {
      played.say(`${count} `.padEnd(64 * 1024, '.'))
      await settled(3)
      expect(played.isPaused).toBe(false)
    }
    await quick.until('79 ')
    expect(quick.text().length).toBe(5 + 80 * 64 * 1024)
    slow.go()
    await slow.until('79 ')
    const lost = 5 + 80 * 64 * 1024 - slow.text().length
    expect(lost).toBeGreaterThan(2 * MiB)
    const resumed = slow.cursors.findIndex((cursor, index) => index > 1 && cursor - (slow.cursors[index - 1] ?? 0) === lost)
    expect(resumed).toBeGreaterThan(0)
    expect(slow.cursors.at(-1)).toBe(quick.cursors.at(-1))

    quick.socket.close()
    slow.stall()
    for (let count = 0; count < 40 && !played.isPaused; count++) played.say('z'.repeat(64 * 1024))
    expect(played.isPaused).toBe(true)
    slow.socket.close()
    expect(played.isPaused).toBe(false)
  })

  test('whose input is not read is held, and cut off beyond the bound', async () => {
    const place = await startPty()
    const { id } = await place.create()
    const viewer = await place.connect(id)
    const played = await program(place)
    played.block()
    expect(viewer.type('a little')).toBeUndefined()
    const taken = viewer.type('x'.repeat(MiB))
    expect(taken).toBeInstanceOf(Promise)
    for (let count = 0; count < 6; count++) void viewer.type('x'.repeat(MiB))
    expect(() => viewer.type('x'.repeat(MiB))).toThrow('does not read its input')
    played.unblock()
    await taken
    expect(played.input.length).toBe(8 + 7 * MiB)
  })

  test('is one of at most 16 to a terminal', async () => {
    const place = await startPty()
    const { id } = await place.create()
    const viewers = await Promise.all(Array.from({ length: 16 }, () => place.connect(id)))
    await expect(place.connect(id)).rejects.toMatchObject({ code: 'quota.exceeded' })
    viewers[0]?.socket.close()
    await place.connect(id)
  })
})

describe('the end', () => {
  test('of a terminal closes its clients and ends its program, even one that is just being started', async () => {
    const place = await startPty()
    const [one, other] = [await place.create(), await place.create()]
    const viewer = await place.connect(one.id)
    const played = await program(place)
    await place.call('remove', at(one.id))
    await viewer.closed
    expect(played.wasEnded).toBe(true)

    let start: () => void = () => undefined
    place.effects.terminals.gate = new Promise((resolve) => (start = resolve))
    const early = await place.connect(other.id)
    const removed = place.call('remove', at(other.id))
    start()
    await removed
    await early.closed
    expect(place.effects.terminals.alive).toBe(0)
  })

  test('of the service ends every terminal and says so', async () => {
    const place = await startPty()
    const { id } = await place.create()
    const viewer = await place.connect(id)
    const played = await program(place)
    await place.stop()
    await viewer.closed
    expect(played.wasEnded).toBe(true)
    expect(ofType(place, 'pty.').map(({ type }) => type)).toEqual(['pty.created', 'pty.exited', 'pty.deleted'])
  })

  test('that nobody told of, because the service was killed, is told by the next start', async () => {
    const store = openStore({ directory: ':memory:', now: () => 1 })
    const info: Pty = { id: 'pty_left', command: ['sh'], cwd: '/', title: 'left', time: 1 }
    store.transact('process', () => store.pluginRows.put('dev.svc.pty', 'terminal', { id: info.id, group: '', sort: 1, data: info }))
    const place = await startPty(store)
    expect(await place.call('list')).toEqual([])
    expect(store.pluginRows.list('dev.svc.pty', 'terminal')).toEqual([])
    const told = store.events.after(0, 10).map(({ json }) => JSON.parse(json) as { type: string; source: string; data: unknown })
    expect(told.filter(({ type }) => type === 'pty.deleted')).toMatchObject([
      { source: 'dev.svc.pty', data: { id: info.id, ptyID: info.id, info } },
    ])
  })
})
