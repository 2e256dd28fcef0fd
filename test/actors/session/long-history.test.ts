import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { startTestService, type TestService } from '../../fakes/service.js'

const WORDS = 4000

/** A session of so many turns, each a prompt of some thousand characters and an answer. */
async function withTurns(turns: number): Promise<{ readonly service: TestService; readonly id: string; readonly slices: number }> {
  const service = await startTestService()
  const id = await service.session()
  const [user, assistant] = await recorded(service)
  const { store } = service
  store.transact('process', () => {
    for (let at = 0; at < turns; at++) {
      const [asked, answered] = [`msg_${at}a`, `msg_${at}b`]
      const part = (messageId: string, text: string) => ({ id: `prt_${messageId}`, sessionId: id, messageId, type: 'text' as const, text })
      store.messages.append({ ...user, id: asked, sessionId: id }, [part(asked, `Turn ${at}\n${'x'.repeat(WORDS)}`)])
      store.messages.append({ ...assistant, id: answered, sessionId: id, parentId: asked }, [part(answered, 'y'.repeat(WORDS))])
    }
  })
  return { service, id, slices: Math.floor((turns * 2 * WORDS) / LIMITS.sessions.sliceCharacters) }
}

/** Records of a turn as they are stored. */
async function recorded(service: TestService) {
  const id = await service.session()
  service.steps.push(async (push) => {
    push({ type: 'text', delta: 'said' })
    push({ type: 'finish', reason: 'stop', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } })
  })
  await service.prompt(id, 'asked')
  await service.idle(id)
  const [asked, answered] = service.messages(id)
  if (asked?.info.role !== 'user' || answered?.info.role !== 'assistant') throw new Error('no turn was recorded')
  return [asked.info, answered.info] as const
}

/** What work answers, and how many turns of the event loop others had meanwhile. */
async function meanwhile<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly turns: number }> {
  let turns = 0
  let isOver = false
  const others = (async () => {
    while (!isOver) {
      await turn()
      if (!isOver) turns++
    }
  })()
  const value = await work()
  isOver = true
  await others
  return { value, turns }
}

async function textOf(pieces: AsyncIterable<string> | undefined): Promise<string> {
  let text = ''
  for await (const piece of pieces ?? []) text += piece
  return text
}

const words = ({ parts }: Message) => parts.map((part) => (part.type === 'text' ? part.text : part.type))

describe('a long history', () => {
  it('is copied in slices, whole and in order, and nobody sees the copy before it is there', async () => {
    const { service, id, slices } = await withTurns(400)
    const { sessions } = service.runtime
    let listed = 0
    const { value: fork, turns } = await meanwhile(async () => {
      const copying = sessions.fork(id, {})
      await turn()
      listed = sessions.children(id).items.length
      return copying
    })
    expect(slices).toBeGreaterThan(4)
    expect(turns).toBeGreaterThanOrEqual(slices)
    expect(listed).toBe(0)
    expect(sessions.children(id).items.map((child) => child.id)).toEqual([fork.id])
    const [source, copy] = [service.messages(id), service.messages(fork.id)]
    expect(copy.map(words)).toEqual(source.map(words))
    expect(copy.every(({ info, parts }) => info.sessionId === fork.id && parts.every((part) => part.messageId === info.id))).toBe(true)
    const told = service.store.events.after(0, 10_000).filter(({ sessionId }) => sessionId === fork.id)
    expect(told.map(({ type }) => type)).toEqual(['session.created'])
    const middle = await sessions.fork(id, { messageId: 'msg_300b' })
    expect(service.messages(middle.id).map(words)).toEqual(source.slice(0, 602).map(words))
  })

  it('that is undone, or deleted, while it is copied leaves no copy', async () => {
    const { service, id } = await withTurns(400)
    const { sessions } = service.runtime
    const copying = sessions.fork(id, {})
    await sessions.delete(TRUSTED_CALLER, id)
    await expect(copying).rejects.toMatchObject({ code: expect.stringMatching(/^resource\.(?:conflict|not_found)$/) as string })
    expect(service.store.sessions.list({ tenantId: ' import', includeArchived: true, limit: 10 })).toEqual([])
    expect(service.store.sessions.count(' import')).toBe(0)
  })

  it('is undone, redone and shown as a tree in slices', async () => {
    const { service, id, slices } = await withTurns(400)
    const { sessions } = service.runtime
    const undone = await meanwhile(() => sessions.undo(id, {}))
    expect(undone.turns).toBeGreaterThanOrEqual(slices)
    expect(service.messages(id)).toHaveLength(798)
    const tree = await meanwhile(() => sessions.undoTree(id))
    expect(tree.turns).toBeGreaterThanOrEqual(slices)
    expect(tree.value.nodes.map(({ title, status }) => [title, status])).toEqual(
      Array.from({ length: 400 }, (_, at) => [`Turn ${at}`, at === 399 ? 'reverted' : 'applied']),
    )
    await sessions.redo(id, {})
    const told = service.store.events
      .after(0, 10_000)
      .flatMap(({ type, json }) => (type === 'message.part.updated' ? [JSON.parse(json)] : []))
    expect(told.at(-1)).toMatchObject({ data: { part: { messageId: 'msg_399b', text: 'y'.repeat(WORDS) } } })
    expect(service.messages(id)).toHaveLength(800)
  })

  it('of many small messages is shown as a tree some hundred messages in a turn', async () => {
    const { service, id } = await withTurns(1)
    const { store } = service
    const [user] = await recorded(service)
    const many = 4 * LIMITS.sessions.sliceMessages
    store.transact('process', () => {
      for (let at = 0; at < many; at++) {
        const messageId = `msg_many${at}`
        store.messages.append({ ...user, id: messageId, sessionId: id }, [
          { id: `prt_many${at}`, sessionId: id, messageId, type: 'text', text: `Many ${at}` },
        ])
      }
    })
    const { turns, value } = await meanwhile(() => service.runtime.sessions.undoTree(id))
    expect(turns).toBeGreaterThanOrEqual(4)
    expect(value.nodes.at(-1)).toMatchObject({ title: `Many ${many - 1}`, parentID: `msg_many${many - 2}` })
  })

  it('is read in pieces, a slice in each, and is the same text as in one', async () => {
    const { service, id, slices } = await withTurns(400)
    const { sessions } = service.runtime
    for (const answer of [
      sessions.context(id),
      sessions.messages(id, {}),
      sessions.messages(id, { order: 'desc', limit: 700 }),
      sessions.messages(id, { limit: 500, cursor: 'msg_100a', slim: true }),
    ]) {
      const { value, turns } = await meanwhile(() => textOf(answer.pieces?.()))
      expect(value).toBe(answer.rawJson)
      expect(turns).toBeGreaterThanOrEqual(Math.floor(slices / 2))
    }
    expect(JSON.parse(sessions.messages(id, { limit: 500 }).rawJson)).toMatchObject({ cursor: { next: 'msg_249b' } })
  })

  it('that is short is read and copied in the turn it is asked for', async () => {
    const { service, id } = await withTurns(5)
    const { sessions } = service.runtime
    expect(sessions.context(id).pieces).toBeUndefined()
    expect(sessions.messages(id, { limit: 2 })).toEqual({ rawJson: expect.stringContaining('"cursor":{"next":"msg_0b"}') as string })
    const { turns } = await meanwhile(() => sessions.undoTree(id))
    expect(turns).toBeLessThanOrEqual(1)
  })
})
