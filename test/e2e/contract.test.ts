/** Answers and events of the running server agree with the document it publishes. */
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Contract, contractOf } from './contract/document.js'
import { callRecording } from './contract/examples.js'
import { VALID_CALLS } from './contract/valid-calls.js'
import { asking, openWorld, PLUGIN, sessionOf, talked, type World } from './contract/world.js'
import { approve, untilState } from './server/plugins.js'
import { connect, createTerminal } from './terminal/terminals.js'

let world: World
let contract: Contract
beforeAll(async () => {
  world = await openWorld()
  contract = await contractOf(world.server)
})
afterAll(() => world.close())

test('there is a valid call of every operation', () => {
  expect(Object.keys(VALID_CALLS).toSorted()).toEqual(contract.operationIds.toSorted())
})

test.each(Object.keys(VALID_CALLS))('%s answers a valid call as the document promises', (id) => callRecording(world, contract, id))

test('a refusal is one that the document knows', async () => {
  const { server } = world
  contract.refusal('v2.sessions.get', await server.call('GET', '/v2/sessions/ses_none'))
  contract.refusal('v2.sessions.create', await server.call('POST', '/v2/sessions', { title: 1 }))
  contract.refusal('v2.plugins.pty.connect', await server.call('GET', '/v2/plugins/dev.svc.pty/pty_none/connect?ticket=none'))
  contract.refusal('v2.health', await server.call('GET', '/v2/health', undefined, { 'sec-fetch-site': 'cross-site' }))
})

test('every event is one of the union, and a full conversation shows all of them', async () => {
  const { stream, catalog } = world
  await failures(world)
  await aroundConversations(world)
  const events = [...stream.events, ...catalog.events]
  for (const event of events) contract.event(event)
  const seen = new Set<string>(events.map(({ type }) => type))
  expect(contract.eventTypes.filter((type) => !seen.has(type))).toEqual([])
})

/** What goes wrong in conversations: a tool, a model that is busy, one that refuses, a denied request, an aborted run. */
async function failures(world: World): Promise<void> {
  const { server, stream } = world
  await talked(world, 'please err')
  await talked(world, 'please overload')
  await talked(world, 'please fail')
  const denied = await asking(world, 'please write')
  await server.call('POST', `/v2/interactions/permissions/${denied.requestId}/reply`, { reply: 'reject' })
  await server.call('POST', `${denied.at}/wait`)
  const aborted = await asking(world, 'please write')
  await server.call('POST', `${aborted.at}/abort`)
  await stream.idle(aborted.id)
}

/** Another branch, a session that moves, a terminal whose program ends, a plugin that is approved. */
async function aroundConversations(world: World): Promise<void> {
  const { server, stream, scene } = world
  await server.call('GET', '/v2/plugins/dev.svc.vcs')
  execFileSync('git', ['checkout', '--quiet', '-b', 'other'], { cwd: scene.place.repo, env: scene.place.env })
  await stream.waitFor((event) => event.type === 'vcs.branch.updated')
  await server.call('POST', '/v2/management/repositories', { kind: 'clone', remoteUrl: `file://${scene.place.repo}` })
  const { at } = await sessionOf(world)
  await server.call('PATCH', at, { directory: `${scene.place.repo}/sub` })
  const { id } = await createTerminal(server, { command: ['/bin/sh', '-c', 'exit 3'] })
  const viewer = await connect(server, id)
  await viewer.closed
  await stream.waitFor((event) => event.type === 'pty.exited' && event.data.ptyID === id)
  await approve(server, scene.place, PLUGIN)
  await untilState(stream, PLUGIN, 'active')
}
