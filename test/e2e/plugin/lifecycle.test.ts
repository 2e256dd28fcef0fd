import { afterEach, expect, test } from 'vitest'
import type { PackageLifecycleInfo } from '../../../src/protocol/plugin/plugin.js'
import type { InspectorTrace } from '../../../src/protocol/system/inspector.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, configurePlugin, deletePackage, lifecycleOf, toolProgram, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

const ID = 'dev.example.greeter'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

const brief = ({ state, retainedRevision, leaseActive, diagnostics }: PackageLifecycleInfo) => ({
  state,
  retainedRevision,
  leaseActive,
  codes: diagnostics.map(({ code }) => code),
})

test('the lifecycle tells the truth at each step of trust, update, bad update, re-approval, disable and delete', async () => {
  model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool'
      ? reply(text('Done.'), finish('stop'))
      : reply(toolCall({ id: `call_${request.index}`, name: 'greet', input: {} }), finish('tool_calls')),
  )
  scene = openScene(makePlace())
  const { place } = scene
  place.configure(withModel(model.url))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  const greet = async () => {
    const from = stream.events.length
    await server.prompt(session.id, { prompt: 'greet' })
    await stream.idle(session.id, from)
    return toolParts(await server.messages(session.id)).at(-1)?.state
  }

  writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('greet', 'one') } })
  const found = await lifecycleOf(server, ID)
  expect(found && brief(found)).toEqual({
    state: 'permission-required',
    retainedRevision: undefined,
    leaseActive: false,
    codes: ['permission-required'],
  })
  expect(await greet()).toMatchObject({ status: 'error', error: expect.stringContaining('no tool "greet"') })

  const one = await approve(server, place, ID)
  expect(brief(await untilState(stream, ID, 'active'))).toEqual({
    state: 'active',
    retainedRevision: undefined,
    leaseActive: true,
    codes: [],
  })
  expect(await greet()).toMatchObject({ status: 'completed', output: 'one' })
  const workspace = async () => {
    const { actors } = await server.get<InspectorTrace>('/v2/inspector/trace')
    return actors.filter(({ kind }) => kind === 'workspace').map(({ name, state }) => ({ name, state: state.toSorted() }))
  }
  await expect.poll(workspace).toEqual([{ name: `workspace:${place.repo}`, state: ['tracked.files.watched', 'tracked.sessions.some'] }])

  writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('greet', 'two') } })
  const waiting = await untilState(stream, ID, 'update-available')
  expect(brief(waiting)).toEqual({
    state: 'update-available',
    retainedRevision: one,
    leaseActive: true,
    codes: ['approval-required', 'retained-last-known-good'],
  })
  expect(await greet()).toMatchObject({ status: 'completed', output: 'one' })

  let from = stream.events.length
  const two = await approve(server, place, ID)
  expect(two).not.toBe(one)
  expect((await untilState(stream, ID, 'active', from)).generation).toBe(2)
  expect(await greet()).toMatchObject({ status: 'completed', output: 'two' })

  writePackage(place, ID, { files: { 'plugin.mjs': 'throw new Error("it never starts")\n' } })
  await untilState(stream, ID, 'update-available', from)
  from = stream.events.length
  await approve(server, place, ID)
  await untilState(stream, ID, 'loading', from)
  const refused = await untilState(stream, ID, 'update-available', from)
  expect(brief(refused)).toEqual({
    state: 'update-available',
    retainedRevision: two,
    leaseActive: true,
    codes: ['failed', 'retained-last-known-good'],
  })
  expect(refused.diagnostics[0]?.message).toContain('did not start')
  expect(await greet()).toMatchObject({ status: 'completed', output: 'two' })

  writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('greet', 'three') } })
  const three = await approve(server, place, ID)
  from = stream.events.length
  await untilState(stream, ID, 'active', from)
  expect(await lifecycleOf(server, ID)).toMatchObject({ state: 'active', revision: three, leaseActive: true, diagnostics: [] })
  expect(await greet()).toMatchObject({ status: 'completed', output: 'three' })

  configurePlugin(place, ID, (entry) => ({ ...entry, enabled: false }))
  expect(brief(await untilState(stream, ID, 'disabled', from))).toEqual({
    state: 'disabled',
    retainedRevision: undefined,
    leaseActive: false,
    codes: ['inactive'],
  })
  expect(await greet()).toMatchObject({ status: 'error' })

  deletePackage(place, ID)
  expect(await lifecycleOf(server, ID)).toBeUndefined()
})
