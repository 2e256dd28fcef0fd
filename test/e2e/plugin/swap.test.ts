import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { approve, configurePlugin, lifecycleOf, toolProgram, untilState, writePackage } from '../server/plugins.js'
import { mentioning, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { toolParts } from '../server/transcript.js'

const ID = 'dev.example.swap'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

async function begin(): Promise<{ place: Place; server: Server; stream: Stream }> {
  model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool'
      ? reply(text('Done.'), finish('stop'))
      : reply(toolCall({ id: `call_${request.index}`, name: 'work', input: {} }), finish('tool_calls')),
  )
  scene = openScene(makePlace())
  const { place } = scene
  place.configure(withModel(model.url, { plugins: { [ID]: { options: { config: { root: place.root } } } } }))
  const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
  return { place, server, stream: await server.stream({ tail: true }) }
}

const lastCall = async (server: Server, sessionId: string) => toolParts(await server.messages(sessionId)).at(-1)?.state

/** Says that the call has begun, and answers when it is told to; answers once more, late. */
const PATIENT = `
  if (frame.method === 'initialize') globalThis.root = frame.params.config.root
  if (frame.method === 'tool.invoke') {
    const { existsSync, writeFileSync } = await import('node:fs')
    writeFileSync(globalThis.root + '/begun', '')
    const timer = setInterval(() => {
      if (!existsSync(globalThis.root + '/go')) return
      clearInterval(timer)
      send({ id: frame.id, result: { output: 'the first generation' } })
      send({ id: frame.id, result: { output: 'a late answer' } })
    }, 10)
    return
  }
  if (frame.method === 'shutdown') {
    send({ id: 999, result: { output: 'later still' } })
    send({ id: 1, method: 'host.config.get', params: { key: '' } })
  }`

const patient = toolProgram('work', 'unused', PATIENT).replace("lines.on('line', (line)", "lines.on('line', async (line)")

test('a call that runs while its generation is replaced finishes; the next one is served by the new generation', async () => {
  const { place, server, stream } = await begin()
  writePackage(place, ID, { files: { 'plugin.mjs': patient } })
  await approve(server, place, ID)
  await untilState(stream, ID, 'active')
  const first = await server.createSession()
  await server.prompt(first.id, { prompt: 'work' })
  await until(() => existsSync(join(place.root, 'begun')))

  writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('work', 'the second generation') } })
  const from = stream.events.length
  await approve(server, place, ID)
  expect((await untilState(stream, ID, 'active', from)).generation).toBe(2)

  const second = await server.createSession()
  await server.prompt(second.id, { prompt: 'work' })
  await stream.idle(second.id)
  expect(await lastCall(server, second.id)).toMatchObject({ status: 'completed', output: 'the second generation' })
  expect(await lastCall(server, first.id)).toMatchObject({ status: 'running' })

  writeFileSync(join(place.root, 'go'), '')
  await stream.idle(first.id)
  expect(await lastCall(server, first.id)).toMatchObject({ status: 'completed', output: 'the first generation' })
  const info = await untilDropped(server)
  expect(info).toMatchObject({ state: 'active', generation: 2 })
})

test('a call of a plugin that is switched off fails at once, with the reason', async () => {
  const { place, server, stream } = await begin()
  writePackage(place, ID, { files: { 'plugin.mjs': patient } })
  await approve(server, place, ID)
  await untilState(stream, ID, 'active')
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'work' })
  await until(() => existsSync(join(place.root, 'begun')))
  configurePlugin(place, ID, (entry) => ({ ...entry, enabled: false }))
  await stream.idle(session.id)
  expect(await lastCall(server, session.id)).toMatchObject({ status: 'error', error: expect.stringContaining('plugin') })
  expect(await lifecycleOf(server, ID)).toMatchObject({ state: 'disabled', leaseActive: false })
})

/** Notes every tenth of a second that it lives after it was told to end. */
const STUBBORN = `
  if (frame.method === 'initialize') {
    globalThis.root = frame.params.config.root
    const { spawn } = await import('node:child_process')
    spawn('sh', ['-c', 'trap "" TERM HUP; while :; do sleep 1; done', 'grandchild-of-' + globalThis.root], { stdio: 'inherit' })
    process.on('SIGTERM', () => {})
  }
  if (frame.method === 'shutdown') {
    const { appendFileSync } = await import('node:fs')
    const at = Date.now()
    setInterval(() => appendFileSync(globalThis.root + '/alive', String(Date.now() - at) + '\\n'), 100)
    return
  }`

test('a plugin that ignores shutdown has its time, and is killed then with its grandchildren', async () => {
  const { place, server, stream } = await begin()
  const stubborn = toolProgram('work', 'x', STUBBORN)
    .replace("lines.on('line', (line)", "lines.on('line', async (line)")
    .replace("lines.on('close', () => process.exit(0))", '')
  writePackage(place, ID, { files: { 'plugin.mjs': stubborn } })
  await approve(server, place, ID)
  await untilState(stream, ID, 'active')
  expect(mentioning(`grandchild-of-${place.root}`).length).toBeGreaterThan(0)
  configurePlugin(place, ID, (entry) => ({ ...entry, enabled: false }))
  await untilState(stream, ID, 'disabled')
  expect(await untilNone(() => mentioning(`grandchild-of-${place.root}`))).toEqual([])
  const lived = Number(readFileSync(join(place.root, 'alive'), 'utf8').trim().split('\n').at(-1))
  expect(lived).toBeGreaterThan(0)
  expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
})

test('an instance that ends by itself is brought back; one that keeps ending is given up', async () => {
  const { place, server, stream } = await begin()
  const mortal = toolProgram('work', 'x', `if (frame.method === 'tool.invoke') process.exit(3)`)
  writePackage(place, ID, { files: { 'plugin.mjs': mortal } })
  await approve(server, place, ID)
  await untilState(stream, ID, 'active')
  const session = await server.createSession()
  for (let death = 1; death <= 4; death++) {
    const from = stream.events.length
    await server.prompt(session.id, { prompt: 'work' })
    const after = await untilState(stream, ID, death <= 3 ? 'active' : 'failed', from)
    expect(after.leaseActive).toBe(death <= 3)
    await stream.idle(session.id, from)
    expect(await lastCall(server, session.id)).toMatchObject({ status: 'error', error: expect.stringContaining('exit') })
  }
})

test('after a restart the approved revision serves from our own copy while changed content waits', async () => {
  const { place, server, stream } = await begin()
  writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('work', 'approved') } })
  const approved = await approve(server, place, ID)
  await untilState(stream, ID, 'active')
  await server.stop()
  writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('work', 'changed') } })
  const again = await scene.start()
  const events = await again.stream({ tail: true })
  const session = await again.createSession()
  await again.prompt(session.id, { prompt: 'work' })
  await events.idle(session.id)
  expect(await lastCall(again, session.id)).toMatchObject({ status: 'completed', output: 'approved' })
  expect(await lifecycleOf(again, ID)).toMatchObject({ state: 'update-available', retainedRevision: approved, leaseActive: true })
})

const until = (holds: () => boolean) => expect.poll(holds, { interval: 10 }).toBe(true)

async function untilDropped(server: Server) {
  await expect.poll(async () => (await lifecycleOf(server, ID))?.droppedFrames).toBeGreaterThan(0)
  return lifecycleOf(server, ID)
}
