// Holds http-contract §5.5; sessions-events §7.4, §7.5, §7.8.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RevertMark } from '../../../src/protocol/session/undo.js'
import { filesPlugin } from '../../../src/plugins/files/files.plugin.js'
import { calls, gate, says, startTestService, type TestService } from '../../fakes/service.js'

const start = () => startTestService({ plugins: [filesPlugin({ ripgrepPath: undefined })] })
const call = (tool: string, input: object) => ({ callId: `call_${Math.random()}`, tool, input })

/** One turn that calls a tool. */
async function turn(service: TestService, id: string, tool: string, input: object): Promise<void> {
  service.steps.push(calls(call(tool, input)), says('done'))
  await service.prompt(id, `please ${tool}`)
  await service.idle(id)
}

const inspected = (service: TestService) => {
  const at = (name: string) => join(service.directory, name)
  return { at, read: (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : undefined) }
}

async function twoTurns() {
  const service = await start()
  const { at, read } = inspected(service)
  writeFileSync(at('a.txt'), '\uFEFFone\r\ntwo\r\n', { mode: 0o640 })
  const id = await service.session()
  await turn(service, id, 'edit', { filePath: 'a.txt', oldString: 'two', newString: 'zwei' })
  await turn(service, id, 'write', { filePath: 'new/b.txt', content: 'b\n' })
  return { service, id, at, read, sessions: service.runtime.sessions }
}

const EDITED = '\uFEFFone\r\nzwei\r\n'

describe('undo and redo', () => {
  it('step through turns, with every byte and mode', async () => {
    const { service, id, at, read, sessions } = await twoTurns()
    const whole = service.messages(id)
    expect(whole).toHaveLength(6)
    const first = await sessions.undo(id, {})
    expect([read('a.txt'), read('new/b.txt'), existsSync(at('new'))]).toEqual([EDITED, undefined, false])
    const mark = first['revert'] as RevertMark
    expect(mark).toMatchObject({ messageID: whole[3]?.info.id, messages: whole.slice(3).map(({ info }) => info.id) })
    expect(service.messages(id)).toEqual(whole.slice(0, 3))
    expect(() => sessions.message(id, whole[4]?.info.id ?? '')).toThrow(expect.objectContaining({ code: 'resource.not_found' }))
    await sessions.undo(id, {})
    expect([read('a.txt'), statSync(at('a.txt')).mode & 0o777]).toEqual(['\uFEFFone\r\ntwo\r\n', 0o640])
    expect(service.messages(id)).toEqual([])
    expect(await sessions.undo(id, {})).toEqual(sessions.get(id))
    await sessions.redo(id, {})
    expect([read('a.txt'), read('new/b.txt')]).toEqual([EDITED, undefined])
    const back = await sessions.redo(id, {})
    expect(back).not.toHaveProperty('revert')
    expect([read('new/b.txt'), statSync(at('a.txt')).mode & 0o777]).toEqual(['b\n', 0o640])
    expect(service.messages(id)).toEqual(whole)
    expect(await sessions.redo(id, {})).toEqual(back)
    expect(await sessions.unrevert(id)).toEqual(back)
  })

  it('refuse a part without its message', async () => {
    const { service, id, sessions } = await twoTurns()
    const whole = service.messages(id)
    await expect(sessions.undo(id, { partId: 'prt_1' })).rejects.toMatchObject({ code: 'request.invalid' })
    expect(service.messages(id)).toEqual(whole)
    await sessions.undo(id, {})
    await expect(sessions.redo(id, { partId: 'prt_1' })).rejects.toMatchObject({ code: 'request.invalid' })
    expect(service.messages(id)).toEqual(whole.slice(0, 3))
  })

  it('tells what is removed and what comes back', async () => {
    const { service, id, sessions } = await twoTurns()
    const seen = service.events.length
    await sessions.undo(id, {})
    const undone = service.events.slice(seen).map(({ type }) => type)
    expect(undone).toEqual(['message.removed', 'message.removed', 'message.removed', 'session.updated'])
    const before = service.events.length
    await sessions.unrevert(id)
    const types = new Set(service.events.slice(before).map(({ type }) => type))
    expect(types).toEqual(new Set(['message.updated', 'message.part.updated', 'session.updated']))
  })

  it('change nothing when a file was changed by hand, and name it', async () => {
    const { service, id, at, read, sessions } = await twoTurns()
    writeFileSync(at('a.txt'), 'mine')
    const whole = service.messages(id)
    const refusal = sessions.revert(id, { messageId: whole[0]?.info.id })
    await expect(refusal).rejects.toMatchObject({ code: 'resource.conflict', details: { paths: [at('a.txt')] } })
    expect([read('a.txt'), read('new/b.txt')]).toEqual(['mine', 'b\n'])
    expect(service.messages(id)).toEqual(whole)
    expect(sessions.get(id)).not.toHaveProperty('revert')
    chmodSync(at('new/b.txt'), 0o600)
    await expect(sessions.undo(id, {})).rejects.toMatchObject({ details: { paths: [at('new/b.txt')] } })
  })

  it('never follow a link', async () => {
    const { id, at, sessions } = await twoTurns()
    renameSync(at('new'), at('other'))
    symlinkSync(at('other'), at('new'))
    await expect(sessions.undo(id, {})).rejects.toMatchObject({
      code: 'resource.conflict',
      message: expect.stringContaining('through a link'),
    })
    expect(readFileSync(at('other/b.txt'), 'utf8')).toBe('b\n')
    rmSync(at('new'))
    mkdirSync(at('new'))
    symlinkSync(at('other/b.txt'), at('new/b.txt'))
    await expect(sessions.undo(id, {})).rejects.toMatchObject({ code: 'resource.conflict' })
    expect(lstatSync(at('new/b.txt')).isSymbolicLink()).toBe(true)
  })

  it('go to a part of a message, whose parts before it stay', async () => {
    const { service, id, read, sessions } = await twoTurns()
    const [, step] = service.messages(id)
    const part = step?.parts.find(({ type }) => type === 'tool')
    const session = await sessions.revert(id, { messageId: step?.info.id, partId: part?.id })
    expect(session['revert']).toMatchObject({ messageID: step?.info.id, partID: part?.id })
    expect(read('a.txt')).toContain('two')
    expect(service.messages(id).map(({ parts }) => parts.map(({ type }) => type))).toEqual([['text'], ['step-start']])
    const { nodes, cursor, revert } = await sessions.undoTree(id)
    expect(nodes.map(({ status }) => status)).toEqual(['partial', 'reverted'])
    expect(cursor).toMatchObject({ messageID: service.messages(id)[0]?.info.id, partID: part?.id })
    expect(revert).toMatchObject({ files: ['a.txt', 'new/b.txt'], messages: 4, snapshots: 2 })
    await sessions.redo(id, {})
    expect(read('a.txt')).toBe(EDITED)
    expect(service.messages(id)).toHaveLength(3)
  })

  it('end with the next prompt: what was undone is gone', async () => {
    const { service, id, read, sessions } = await twoTurns()
    await sessions.undo(id, {})
    service.steps.push(says('hello'))
    await service.prompt(id, 'something else')
    await service.idle(id)
    expect(service.messages(id)).toHaveLength(5)
    expect(sessions.get(id)).not.toHaveProperty('revert')
    await sessions.redo(id, {})
    expect(read('new/b.txt')).toBeUndefined()
    expect((await sessions.undoTree(id)).nodes.map(({ title, status }) => [title, status])).toEqual([
      ['please edit', 'applied'],
      ['something else', 'applied'],
    ])
  })

  it('are refused while the session runs, and without a message to go back to', async () => {
    const { service, id, sessions } = await twoTurns()
    await expect(sessions.revert(id, {})).rejects.toMatchObject({ code: 'request.invalid' })
    await expect(sessions.revert(id, { messageId: 'msg_x' })).rejects.toMatchObject({ code: 'resource.not_found' })
    const held = gate()
    service.steps.push(async (push) => {
      await held.promise
      await says('hello')(push, new AbortController().signal, service.requests[0] as never)
    })
    await service.prompt(id, 'go on')
    for (const work of [sessions.undo(id, {}), sessions.unrevert(id)])
      await expect(work).rejects.toMatchObject({ code: 'resource.conflict' })
    held.open()
    await service.idle(id)
  })

  it('happen one at a time, and a prompt waits for them', async () => {
    const { service, id, read, sessions } = await twoTurns()
    service.steps.push(says('hello'))
    const both = [sessions.undo(id, {}), sessions.undo(id, {})]
    const prompted = service.prompt(id, 'go on')
    const ends = await Promise.allSettled(both)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    await prompted
    await service.idle(id)
    expect([read('a.txt'), read('new/b.txt')]).toEqual([EDITED, undefined])
    expect(service.messages(id)).toHaveLength(5)
  })

  it('restore a turn of two hundred files, in the middle of which the conversation was compacted', async () => {
    const service = await start()
    const { at } = inspected(service)
    const id = await service.session()
    const names = Array.from({ length: 200 }, (_, index) => `d${index % 10}/f${index}.txt`)
    const inputs = names.map((filePath) => call('write', { filePath, content: filePath.repeat(50) }))
    for (let first = 0; first < 200; first += 50) service.steps.push(calls(...inputs.slice(first, first + 50)))
    service.steps.push(says('done'))
    await service.prompt(id, 'write all')
    await service.idle(id)
    await service.runtime.sessions.undo(id, {})
    expect(names.filter((name) => existsSync(at(name)))).toEqual([])
    await service.runtime.sessions.redo(id, {})
    expect(names.map((name) => readFileSync(at(name), 'utf8'))).toEqual(names.map((name) => name.repeat(50)))
  })

  it('refuse what was not kept, and believe no caller who says what a call has changed', async () => {
    const { service, id, at, sessions } = await twoTurns()
    const part = service.messages(id)[1]?.parts.find(({ type }) => type === 'tool')
    if (part?.type !== 'tool' || part.state.status !== 'completed') throw new Error('no call')
    const { snapshots, ...metadata } = part.state.metadata as Record<string, unknown>
    expect(snapshots).toHaveLength(1)
    const forged = { ...metadata, snapshots: [{ path: '/etc/x', absolute: true, before: { exists: false }, after: { exists: false } }] }
    const stored = sessions.updatePart(id, part.messageId, part.id, { ...part, state: { ...part.state, metadata: forged } })
    expect(stored).toMatchObject({ state: { metadata: { snapshots } } })
    const big = 'x'.repeat(200_000)
    await turn(service, id, 'write', { filePath: 'big.txt', content: big })
    await sessions.undo(id, {})
    expect(existsSync(at('big.txt'))).toBe(false)
    rmSync(join(service.effects.paths.state, 'undo'), { recursive: true })
    await expect(sessions.redo(id, {})).rejects.toMatchObject({ code: 'resource.conflict', details: { paths: [at('big.txt')] } })
  })
})
