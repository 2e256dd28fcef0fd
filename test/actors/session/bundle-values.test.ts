/** What one value of a bundle costs to read. */
import { expect, it, vi } from 'vitest'
import { readBundle } from '../../../src/actors/session/bundles/read-bundle.js'

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
