/** What one value of a bundle costs to read. */
import { expect, it, vi } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { readBundle } from '../../../src/actors/session/bundles/read-bundle.js'
import { exported, imported } from '../../fakes/bundles.js'
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
