/** Conversations that move themselves: noted in the run, done with its end, once, also over a kill (sessions-events §2.16). */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesPlugin } from '../../../src/plugins/files/files.plugin.js'
import { openStore } from '../../../src/store/open.js'
import type { Store } from '../../../src/store/store.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { calls, gate, type PlayedStep, says, startTestService, type TestService } from '../../fakes/service.js'

const ALL = { permission: { '*': 'allow' } }
const start = (given: { config?: Record<string, unknown>; store?: Store; effects?: FakeEffects } = {}) =>
  startTestService({ config: ALL, ...given, plugins: [filesPlugin({ ripgrepPath: undefined })] })
let count = 0
const moves = (input: object) => calls({ callId: `call_${++count}`, tool: 'move_chat', input })
const writes = (input: object) => calls({ callId: `call_${++count}`, tool: 'write', input })
/** A step that ends once it is let, or aborted. */
const waits =
  (until: Promise<void>): PlayedStep =>
  async (push, signal, request) => {
    await Promise.race([until, new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))])
    await says('done')(push, signal, request)
  }
const lastCall = (service: TestService, id: string) => {
  const part = service
    .messages(id)
    .flatMap(({ parts }) => parts)
    .findLast(({ type }) => type === 'tool')
  if (part?.type !== 'tool') throw new Error('nothing was called')
  return part.state
}
const directoryOf = (service: TestService, id: string) => service.runtime.sessions.get(id).directory
const isNoted: Parameters<TestService['until']>[0] = ({ type, data }) =>
  type === 'session.updated' && JSON.stringify(data).includes('"pendingMove"')
const told = (service: TestService) => service.events.filter(({ type }) => type === 'session.moved')

async function turn(service: TestService, id: string, ...steps: Parameters<TestService['steps']['push']>): Promise<void> {
  service.steps.push(...steps, says('done'))
  await service.prompt(id, 'go')
  await service.idle(id)
}

test('a move is noted at once and done when the run ends, with both events; what waits goes on there, and the model is told', async () => {
  const service = await start()
  const id = await service.session()
  const release = gate()
  service.steps.push(moves({ directory: 'sub/deep' }), waits(release.promise))
  service.steps.push(writes({ filePath: 'a.txt', content: 'x' }), says('written'))
  await service.prompt(id, 'move')
  await service.until(isNoted)
  const target = join(service.directory, 'sub/deep')
  expect(directoryOf(service, id)).toBe(service.directory)
  expect(service.runtime.sessions.get(id).pendingMove).toEqual({ directory: target, projectId: 'global', switchWorkspace: true })
  await service.prompt(id, { prompt: 'write', delivery: 'queue' })
  release.open()
  await service.idle(id)
  const session = service.runtime.sessions.get(id)
  expect(session).toMatchObject({ directory: target })
  expect(session).not.toHaveProperty('pendingMove')
  const at = service.events.findIndex(({ type }) => type === 'session.moved')
  expect(service.events.slice(at - 1, at + 1)).toMatchObject([
    { type: 'session.updated', data: { info: { directory: target } } },
    { type: 'session.moved', data: { previousDirectory: service.directory, directory: target, switchWorkspace: true } },
  ])
  expect(readFileSync(join(target, 'a.txt'), 'utf8')).toBe('x')
  const system = service.requests
    .at(-1)
    ?.messages.flatMap((message) => (message.role === 'system' ? [message.text] : []))
    .join()
  expect(system).toContain(`The environment is now {"directory":"${target}"`)
  expect(told(service)).toHaveLength(1)
})

test('the last move of a run counts, back again is none, and an abort ends a run like any other', async () => {
  const service = await start()
  const id = await service.session()
  for (const name of ['one', 'two']) mkdirSync(join(service.directory, name))
  await turn(service, id, moves({ directory: 'one' }), moves({ directory: '.' }))
  expect([directoryOf(service, id), told(service)]).toEqual([service.directory, []])
  service.steps.push(moves({ directory: 'one' }), moves({ directory: 'two', switch_workspace: false }), waits(gate().promise))
  await service.prompt(id, 'go')
  await service.until(({ data }) => JSON.stringify(data).includes('"switchWorkspace":false'))
  await service.runtime.sessions.abort(id)
  await service.idle(id)
  expect(directoryOf(service, id)).toBe(join(service.directory, 'two'))
  expect(told(service)).toMatchObject([{ data: { switchWorkspace: false } }])
})

test('outside of the session directory it is asked about as any access there; what is denied moves nothing', async () => {
  const service = await start({ config: { permission: { '*': 'allow', external_directory: 'deny' } } })
  const id = await service.session()
  const other = join(service.effects.root, 'other')
  await turn(service, id, moves({ directory: other }))
  expect(lastCall(service, id)).toMatchObject({ status: 'error' })
  expect([existsSync(other), directoryOf(service, id)]).toEqual([false, service.directory])
  const free = await start({ config: { permission: { '*': 'allow', external_directory: 'allow' } } })
  const own = await free.session()
  const place = join(free.effects.root, 'other')
  await turn(free, own, moves({ directory: place }))
  expect(lastCall(free, own)).toMatchObject({ status: 'completed', title: place, metadata: { created: true } })
  expect(directoryOf(free, own)).toBe(place)
})

test('who may not edit goes to a directory that is there, and makes none', async () => {
  const service = await start({ config: { permission: { '*': 'allow', edit: 'deny' } } })
  const id = await service.session()
  await turn(service, id, moves({ directory: 'none' }))
  expect(lastCall(service, id)).toMatchObject({ status: 'error' })
  expect(existsSync(join(service.directory, 'none'))).toBe(false)
  mkdirSync(join(service.directory, 'there'))
  await turn(service, id, moves({ directory: 'there' }))
  expect(directoryOf(service, id)).toBe(join(service.directory, 'there'))
})

test('what is no directory, or missing and not to be made, and a task stay where they are', async () => {
  const service = await start()
  const id = await service.session()
  writeFileSync(join(service.directory, 'file'), '')
  await turn(service, id, moves({ directory: 'file' }))
  expect(lastCall(service, id)).toMatchObject({ status: 'error', error: 'file is not a directory.' })
  await turn(service, id, moves({ directory: 'none', create_directory: false }))
  expect(lastCall(service, id)).toMatchObject({ status: 'error', error: 'There is no directory none.' })
  const task = await service.session({ parentId: id })
  service.store.transact('process', () =>
    service.store.sessions.update({ ...service.runtime.sessions.get(task), delegation: { agent: 'build', refused: [] } }),
  )
  await turn(service, task, moves({ directory: 'sub' }))
  expect(lastCall(service, task)).toMatchObject({ status: 'error', error: expect.stringContaining('it cannot move') })
  expect([directoryOf(service, id), directoryOf(service, task)]).toEqual([service.directory, service.directory])
})

test('undo goes back to where the files were changed', async () => {
  const service = await start()
  const id = await service.session()
  await turn(service, id, writes({ filePath: 'a.txt', content: 'x' }), moves({ directory: 'sub' }))
  expect(directoryOf(service, id)).toBe(join(service.directory, 'sub'))
  await service.runtime.sessions.undo(id, {})
  expect(existsSync(join(service.directory, 'a.txt'))).toBe(false)
})

test('a fork of a session that is about to move stays', async () => {
  const service = await start()
  const id = await service.session()
  const release = gate()
  service.steps.push(moves({ directory: 'sub' }), waits(release.promise))
  await service.prompt(id, 'move')
  await service.until(isNoted)
  const fork = await service.runtime.sessions.fork(id, {})
  release.open()
  await service.idle(id)
  expect(fork).not.toHaveProperty('pendingMove')
  expect(fork.directory).toBe(service.directory)
})

test('a kill between the note and the end moves it with the next start, once', async () => {
  const effects = createFakeEffects()
  const open = () => openStore({ directory: join(effects.paths.state, 'data'), now: () => effects.clock.now() })
  const first = await start({ effects, store: open() })
  const id = await first.session()
  first.steps.push(moves({ directory: 'sub' }), waits(gate().promise))
  await first.prompt(id, 'move')
  await first.until(isNoted)
  await effects.clock.advanceAsync(1000)
  first.running.kill()
  await effects.clock.advanceAsync(200)
  await first.running.ended
  const movedRows = (service: TestService) => service.store.events.after(0, 10_000).filter(({ type }) => type === 'session.moved').length
  const second = await start({ effects, store: open() })
  expect([directoryOf(second, id), movedRows(second)]).toEqual([join(first.directory, 'sub'), 1])
  expect(second.runtime.sessions.get(id)).not.toHaveProperty('pendingMove')
  await second.stop()
  const third = await start({ effects, store: open() })
  expect([directoryOf(third, id), movedRows(third)]).toEqual([join(first.directory, 'sub'), 1])
})
