/** What one value of a bundle costs to read. */
import { expect, it, vi } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { readBundle } from '../../../src/actors/session/bundles/read-bundle.js'
import { exported, imported, waiting } from '../../fakes/bundles.js'
import { says, startTestService } from '../../fakes/service.js'

const MiB = 1024 * 1024

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024)
}

it('a long text is read a piece at a time, with no string for each of its characters', async () => {
  const time = { created: 1, updated: 1 }
  const session = { id: 'ses_1', slug: 's', projectId: 'p', directory: '/', title: 't', version: '1', time }
  const text = `${'x'.repeat(2 * MiB)}😀é\n"${'\\'.repeat(100)}${'é'.repeat(MiB)}`
  const info = { id: 'msg_1', sessionId: 'ses_1', role: 'user', time: { created: 1 }, agent: 'a', model: { providerId: 'p', modelId: 'm' } }
  const message = { info, parts: [{ id: 'prt_1', sessionId: 'ses_1', messageId: 'msg_1', type: 'text', text }] }
  const bundle = { version: 1, session, messages: [message], queuedPrompts: [] }
  const found: unknown[] = []
  const made = vi.spyOn(String, 'fromCharCode')
  try {
    await readBundle(pieces(JSON.stringify({ bundle, targetWorkspaceRoot: '/' })), async (arrived) => void found.push(...arrived))
    expect(made.mock.calls.length).toBeLessThan(1000)
  } finally {
    made.mockRestore()
  }
  expect(found).toEqual([{ type: 'message', message }])
})

it('long messages are looked at a slice at a time once they are there', async () => {
  const service = await startTestService()
  const id = await service.session()
  service.steps.push(says('An answer.'))
  await service.prompt(id, 'A question')
  await service.idle(id)
  const bundle = await exported(service, id)
  const [asked, answered] = bundle.messages
  if (asked === undefined || answered === undefined) throw new Error('no turn was recorded')
  const answers = Array.from({ length: 12 }, (_, at): Message => {
    const part = { id: `prt_${at}`, sessionId: id, messageId: `msg_${at}`, type: 'text' as const, text: 'x'.repeat(300 * 1024) }
    return { info: { ...answered.info, id: `msg_${at}` }, parts: [part] }
  })
  const read: number[] = []
  const { slice, page } = service.store.messages
  const length = (items: readonly (string | { readonly json: string })[]) =>
    items.reduce((sum, item) => sum + (typeof item === 'string' ? item : item.json).length, 0)
  vi.spyOn(service.store.messages, 'slice').mockImplementation((query) => {
    const found = slice(query)
    read.push(length(found.items))
    return found
  })
  vi.spyOn(service.store.messages, 'page').mockImplementation((query) => {
    const found = page(query)
    read.push(length(found.items))
    return found
  })
  const made = await imported(service, { ...bundle, messages: [asked, ...answers] })
  vi.restoreAllMocks()
  expect(read.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(12 * 300 * 1024)
  expect(Math.max(...read)).toBeLessThan(LIMITS.sessions.sliceCharacters + 301 * 1024)
  expect(service.messages(made)).toHaveLength(13)
})

it('a long message is handed over in another turn than it was read in, and stored a piece at a time, also when it is forked', async () => {
  const service = await startTestService()
  const id = await service.session()
  service.steps.push(says('An answer.'))
  await service.prompt(id, 'A question')
  await service.idle(id)
  const bundle = await exported(service, id)
  const [asked, answered] = bundle.messages
  if (asked === undefined || answered === undefined) throw new Error('no turn was recorded')
  const parts = Array.from({ length: 40 }, (_, at) => {
    const text = 'x'.repeat(100 * 1024)
    return { id: `prt_${at}`, sessionId: id, messageId: answered.info.id, type: 'text' as const, text }
  })
  let turn = 0
  let isOver = false
  const next = (): void => {
    turn++
    if (!isOver) setImmediate(next)
  }
  next()
  const stored = new Map<number, number>()
  const note = (more: readonly { readonly type: string }[]) => {
    const length = more.reduce((sum, part) => sum + (part.type === 'text' && 'text' in part ? String(part.text).length : 0), 0)
    stored.set(turn, (stored.get(turn) ?? 0) + length)
  }
  const { append, putPart } = service.store.messages
  vi.spyOn(service.store.messages, 'append').mockImplementation((info, more) => {
    note(more)
    return append(info, more)
  })
  vi.spyOn(service.store.messages, 'putPart').mockImplementation((part) => {
    note([part])
    return putPart(part)
  })
  const made = await imported(service, { ...bundle, messages: [asked, { ...answered, parts }] })
  expect(Math.max(...stored.values())).toBeLessThanOrEqual(LIMITS.bundles.pieceBytes)
  stored.clear()
  const fork = await service.runtime.sessions.fork(made, {})
  isOver = true
  vi.restoreAllMocks()
  expect(Math.max(...stored.values())).toBeLessThanOrEqual(LIMITS.bundles.pieceBytes)
  for (const each of [made, fork.id]) expect(service.messages(each)[1]?.parts).toHaveLength(40)
})

it('prompts that wait are stored each in a turn of its own', async () => {
  const service = await startTestService()
  const bundle = await exported(service, await service.session())
  const commits: number[] = []
  const { append } = service.store.queue
  let turn = 0
  vi.spyOn(service.store.queue, 'append').mockImplementation((row) => {
    commits.push(turn)
    setImmediate(() => turn++)
    append(row)
  })
  await imported(service, { ...bundle, queuedPrompts: [waiting('one'), waiting('two'), waiting('three')] })
  vi.restoreAllMocks()
  expect(new Set(commits).size).toBe(3)
})

it('a value has so many names of members at most', async () => {
  const names = (count: number) => `{"bundle":{"session":{${Array.from({ length: count }, (_, at) => `"a${at}":0`).join(',')}`
  const read = (text: string) => readBundle(pieces(text), async () => undefined)
  await expect(read(names(LIMITS.bundles.names + 1))).rejects.toThrow('more than 65536 names of members')
  await expect(read(names(LIMITS.bundles.names - 10))).rejects.toThrow('ends before it is whole')
})
