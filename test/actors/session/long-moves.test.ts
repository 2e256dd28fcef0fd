import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { filesPlugin } from '../../../src/plugins/files/files.plugin.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { RevertMark } from '../../../src/protocol/session/undo.js'
import type { Store } from '../../../src/store/store.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { calls, says, startTestService, type TestService } from '../../fakes/service.js'

const STEP = LIMITS.sessions.sliceMessages
const TURNS = Math.floor(STEP * 2.2)

/** Told at each commit, which it may refuse, what the transaction has added to the events. */
type Watch = (types: readonly string[]) => void

/** A service that may be killed: nothing of it reaches the disk any more, and another one begins with what has. */
async function startOn(directory: string, effects: FakeEffects, watch: { each: Watch }) {
  const store: Store = openStore({
    directory,
    now: () => effects.clock.now(),
    failpoint() {
      watch.each(store.events.after(known, 100_000).map(({ type }) => type))
      known = store.events.last()
    },
  })
  let known = store.events.last()
  return startTestService({ effects, store, plugins: [filesPlugin({ ripgrepPath: undefined })] })
}

/** A file is written in the first of many turns. */
async function withTurns() {
  const directory = mkdtempSync(join(tmpdir(), 'svc-long-moves-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const effects = createFakeEffects()
  const watch: { each: Watch } = { each: () => undefined }
  const service = await startOn(directory, effects, watch)
  const id = await service.session()
  service.steps.push(calls({ callId: 'call_1', tool: 'write', input: { filePath: 'a.txt', content: 'a\n' } }), says('done'))
  await service.prompt(id, 'write it')
  await service.idle(id)
  const [asked, , answered] = service.messages(id)
  if (asked?.info.role !== 'user' || answered?.info.role !== 'assistant') throw new Error('no turn was recorded')
  const [user, assistant] = [asked.info, answered.info]
  service.store.transact('process', () => {
    for (let at = 0; at < TURNS; at++) {
      const part = (messageId: string) => ({ id: `prt_${messageId}`, sessionId: id, messageId, type: 'text' as const, text: `${at}` })
      const [first, second] = [`msg_${at}a`, `msg_${at}b`]
      service.store.messages.append({ ...user, id: first }, [part(first)])
      service.store.messages.append({ ...assistant, id: second, parentId: first }, [part(second)])
    }
  })
  const file = join(service.directory, 'a.txt')
  const restart = () => startOn(directory, effects, { each: () => undefined })
  return { service, watch, id, restart, file, first: asked.info.id, whole: service.messages(id) }
}

const typesOf = (service: TestService, from: number) => service.events.slice(from).map(({ type }) => type)
const count = (types: readonly string[], type: string) => types.filter((each) => each === type).length
const full = new SvcError('store.unavailable', 'The disk is full.')

describe('a long history', () => {
  it('is undone and redone a bounded part in a commit, and told whole and in the order of the steps', async () => {
    const { service, watch, id, first, whole } = await withTurns()
    const { sessions } = service.runtime
    const commits: number[] = []
    watch.each = (types) => void commits.push(types.length)
    let before = service.events.length
    const undone = await sessions.revert(id, { messageId: first })
    expect(undone['revert']).toMatchObject({ messageID: first, messages: whole.map(({ info }) => info.id) })
    expect(service.messages(id)).toEqual([])
    const removed = service.events.slice(before)
    const removedIds = removed.filter(({ type }) => type === 'message.removed').map(({ data }) => data['messageID'])
    expect(removedIds).toHaveLength(whole.length)
    expect(new Set(removedIds)).toEqual(new Set(whole.map(({ info }) => info.id)))
    expect(removed.at(-1)?.type).toBe('session.updated')
    expect(count(typesOf(service, before), 'session.updated')).toBe(1)
    expect(commits.length).toBeGreaterThan(whole.length / STEP)

    before = service.events.length
    expect(await sessions.unrevert(id)).not.toHaveProperty('revert')
    expect(service.messages(id)).toEqual(whole)
    const shown = service.events.slice(before).filter(({ type }) => type === 'message.updated')
    expect(shown.map(({ data }) => (data['info'] as { id: string }).id)).toEqual(whole.map(({ info }) => info.id))
    const parts = whole.flatMap((message) => message.parts.map((part) => part.id))
    expect(count(typesOf(service, before), 'message.part.updated')).toBe(parts.length)
    // A message and its part are two events, and the turn that wrote has more parts.
    expect(Math.max(...commits)).toBeLessThanOrEqual(2 * STEP + 8)
    expect(service.store.restores.sessions()).toEqual([])
  })

  it('is shown again as many characters in a commit as are read in a turn', async () => {
    const { service, watch, id } = await withTurns()
    const { store } = service
    const many = 8
    const text = 'x'.repeat(LIMITS.sessions.sliceCharacters / 4)
    const [asked] = service.messages(id)
    if (asked === undefined) throw new Error('no turn was recorded')
    store.transact('process', () => {
      for (let at = 0; at < many; at++) {
        const messageId = `msg_large${at}`
        const part = { id: `prt_large${at}`, sessionId: id, messageId, type: 'text' as const, text }
        store.messages.append({ ...asked.info, id: messageId }, [part])
      }
    })
    await service.runtime.sessions.revert(id, { messageId: 'msg_large0' })
    const commits: number[] = []
    watch.each = (types) => void commits.push(count(types, 'message.part.updated'))
    await service.runtime.sessions.unrevert(id)
    expect(commits.filter((parts) => parts > 0)).toEqual([4, 4])
  })

  it('is as it was when a step fails: messages and files are taken back', async () => {
    const { service, watch, id, file, first, whole } = await withTurns()
    const before = service.events.length
    let steps = 0
    watch.each = (types) => {
      if (types.includes('message.removed') && ++steps === 3) throw full
    }
    await expect(service.runtime.sessions.revert(id, { messageId: first })).rejects.toMatchObject({ code: 'store.unavailable' })
    expect(service.messages(id)).toEqual(whole)
    expect(readFileSync(file, 'utf8')).toBe('a\n')
    expect(service.runtime.sessions.get(id)).not.toHaveProperty('revert')
    expect(service.store.restores.sessions()).toEqual([])
    const types = typesOf(service, before)
    expect([count(types, 'message.removed'), count(types, 'message.updated')]).toEqual([2 * STEP, 2 * STEP])
    watch.each = () => undefined
    await service.runtime.sessions.revert(id, { messageId: first })
    expect([service.messages(id), existsSync(file)]).toEqual([[], false])
  })

  /** Kills the service at a commit: nothing is written from then on. */
  async function killedAt(step: number, way: 'revert' | 'unrevert') {
    const made = await withTurns()
    const { service, watch, id, first } = made
    if (way === 'unrevert') await service.runtime.sessions.revert(id, { messageId: first })
    let commits = 0
    watch.each = () => {
      if (++commits >= step) throw full
    }
    let isOver = false
    const end = service.runtime.sessions[way](id, { messageId: first })
      .catch(() => undefined)
      .finally(() => (isOver = true))
    while (!isOver) await service.effects.clock.advanceAsync(LIMITS.undo.retry.first)
    await end
    return { ...made, commits }
  }

  it.each([2, 3, 4, 5])('that a kill cuts short at commit %i of its undo is undone by the next start', async (step) => {
    const { service, id, file, first, whole, restart } = await killedAt(step, 'revert')
    expect(service.store.restores.sessions()).toEqual([id])
    await service.stop()
    const next = await restart()
    expect(next.messages(id)).toEqual([])
    expect(next.runtime.sessions.get(id)['revert'] as RevertMark).toMatchObject({
      messageID: first,
      messages: whole.map(({ info }) => info.id),
    })
    expect([existsSync(file), next.store.restores.sessions()]).toEqual([false, []])
    await next.runtime.sessions.unrevert(id)
    expect([next.messages(id), readFileSync(file, 'utf8')]).toEqual([whole, 'a\n'])
  })

  it.each([2, 4, 6])('that a kill cuts short at commit %i of its redo is redone by the next start', async (step) => {
    const { service, id, file, whole, restart } = await killedAt(step, 'unrevert')
    expect(service.store.restores.sessions()).toEqual([id])
    await service.stop()
    const next = await restart()
    expect([next.messages(id), readFileSync(file, 'utf8')]).toEqual([whole, 'a\n'])
    expect(next.runtime.sessions.get(id)).not.toHaveProperty('revert')
    expect(next.store.restores.sessions()).toEqual([])
  })

  it('that a kill cuts short, and whose file somebody changes meanwhile, is as it was after the next start', async () => {
    const { service, id, file, whole, restart } = await killedAt(4, 'revert')
    await service.stop()
    writeFileSync(file, 'mine\n')
    const next = await restart()
    expect(next.messages(id)).toEqual(whole)
    expect(next.runtime.sessions.get(id)).not.toHaveProperty('revert')
    expect([readFileSync(file, 'utf8'), next.store.restores.sessions()]).toEqual(['mine\n', []])
  })

  it('is copied as it is before or after it has moved', async () => {
    const { service, id, first, whole } = await withTurns()
    const { sessions } = service.runtime
    const moving = sessions.revert(id, { messageId: first })
    const copying = sessions.fork(id, {})
    await moving
    expect(service.messages((await copying).id)).toEqual([])
    const back = sessions.unrevert(id)
    const copy = await sessions.fork(id, {})
    await back
    expect(service.messages(copy.id)).toHaveLength(whole.length)
  })
})
