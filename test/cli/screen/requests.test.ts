/** What the screen says of a request that was answered in it: whose answer counted, whichever of the answer and the event comes first. */
import { expect, test } from 'vitest'
import type { Heard } from '../../../src/cli/screen/story/heard.js'
import { createRequests } from '../../../src/cli/screen/talk/requests.js'
import type { Client } from '../../../src/published/client/client-types.js'

const REQUEST = {
  id: 'per_1',
  sessionID: 'ses_1',
  permission: 'bash',
  title: 'Run: echo hi',
  patterns: ['echo hi'],
  metadata: {},
  always: [],
}

function opened() {
  const notes: string[] = []
  const sent: (() => void)[] = []
  const reply = () => new Promise<boolean>((resolve) => sent.push(() => resolve(true)))
  const client = { interactions: { permissions: { reply } } } as unknown as Client
  const requests = createRequests({ client: () => client, note: (text) => notes.push(text), onChange: () => undefined })
  const hear = (type: string, data: object) => requests.hear({ type, data } as unknown as Heard)
  hear('permission.asked', REQUEST)
  const said = () => notes.filter((text) => text.startsWith('allowed'))
  return { requests, sent, said, replied: () => hear('permission.replied', { requestID: REQUEST.id, reply: 'once', info: null }) }
}

async function answeredHere() {
  const scene = opened()
  await expect.poll(() => scene.requests.question).toBeDefined()
  scene.requests.answer('y')
  await expect.poll(() => scene.sent.length).toBe(1)
  return scene
}

test('the event comes after the server has answered', async () => {
  const { requests, sent, said, replied } = await answeredHere()
  sent[0]?.()
  await expect.poll(() => requests.count).toBe(0)
  replied()
  expect(said()).toEqual(['allowed once'])
})

test('the event comes before the server has answered', async () => {
  const { said, replied } = await answeredHere()
  replied()
  expect(said()).toEqual(['allowed once'])
})

test('somebody else has answered', async () => {
  const { requests, said, replied } = opened()
  await expect.poll(() => requests.question).toBeDefined()
  replied()
  expect(said()).toEqual(['allowed once elsewhere'])
})
