import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { calls, says, startTestService } from '../../fakes/service.js'

const url = `data:image/png;base64,${'AbC+'.repeat(LIMITS.store.pieceOfContent / 2)}`
/** The second is no base64, and would break the JSON it is put into. */
const files = [url, `${url}"`].map((each) => ({ mime: 'image/png', url: each, filename: 'a.png' }))

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

it('large pictures are told and read whole, and stored once for the session', async () => {
  const look = { id: 'look', invoke: async () => ({ title: 'Look', output: 'seen', attachments: files }) }
  const service = await startTestService({ tools: [look] })
  const id = await service.session()
  service.steps.push(calls({ callId: 'a', tool: 'look' }), calls({ callId: 'b', tool: 'look' }), says('Done'))
  await service.prompt(id, 'go')
  await service.idle(id)
  const shown = digest(files.map((file) => ({ type: 'file', ...file })))
  const attachments = (part: unknown) => digest((part as { state: { metadata?: { attachments?: unknown } } }).state.metadata?.attachments)
  const parts = service.messages(id).flatMap((message) => message.parts.filter(({ type }) => type === 'tool'))
  expect(parts.map(attachments)).toEqual([shown, shown])
  const told = service.events.filter(({ type, data }) => type === 'message.part.updated' && JSON.stringify(data).includes('"completed"'))
  expect(told.map(({ data }) => attachments(data['part']))).toEqual([shown, shown])
  const again = service.store.events.after(0, 1000).map(({ json }) => json.split(url).length - 1)
  expect(again.filter((times) => times > 0)).toEqual([2, 2])
  const content = createHash('sha256')
    .update(url.slice(url.indexOf(',') + 1))
    .digest('hex')
  expect(service.store.contents.find(id, content)).toMatch(/^[0-9a-f]{32}$/)
})

it('files of a long prompt are told and read whole, and stored once: waiting, as parts and in events', async () => {
  const service = await startTestService()
  const id = await service.session()
  const parts = files.map((file) => ({ type: 'file' as const, ...file }))
  service.steps.push(says('Done'))
  await service.prompt(id, { parts })
  await service.idle(id)
  expect(service.messages(id)[0]?.parts).toMatchObject(parts)
  const told = service.events.filter(({ type, data }) => type === 'message.part.updated' && JSON.stringify(data).includes('"user"'))
  expect(told.map(({ data }) => data['part'])).toMatchObject(parts.map((part) => ({ ...part, role: 'user' })))
  const admitted = service.events.find(({ type }) => type === 'session.prompt.admitted')
  expect(admitted?.data['request']).toMatchObject({ parts })
  const content = url.slice(url.indexOf(',') + 1)
  const stored = service.store.contents.find(id, createHash('sha256').update(content).digest('hex'))
  expect(stored).toMatch(/^[0-9a-f]{32}$/)
})

it('files of a prompt that is refused are not kept', async () => {
  const service = await startTestService()
  const id = await service.session()
  const attached = (letter: string) => [
    {
      type: 'file' as const,
      mime: 'image/png',
      filename: 'a.png',
      url: `data:image/png;base64,${letter.repeat(LIMITS.sessions.longPrompt)}`,
    },
  ]
  const stored = (letter: string) =>
    service.store.contents.find(id, createHash('sha256').update(letter.repeat(LIMITS.sessions.longPrompt)).digest('hex'))
  const messageId = 'msg_0123456789abAAAAAAAAAAAAAA'
  await service.prompt(id, { messageId, parts: attached('A'), noReply: true })
  await expect(service.prompt(id, { messageId, parts: attached('B'), noReply: true })).rejects.toThrow('other content')
  expect([stored('A'), stored('B')]).toEqual([expect.any(String), undefined])
})
