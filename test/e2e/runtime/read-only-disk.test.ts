// Holds threat-model §6.6.
/** A state directory whose disk turns read-only while the server runs: what is said, what is kept, how it goes on, stops and starts. */
import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import type { HealthResponse } from '../../../src/protocol/system/system.js'
import { lacking } from '../../fakes/machine.js'
import { PATIENCE } from '../../fakes/patience.js'
import { makePlace, type Place } from '../server/place.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'

const NO_COMPILER = lacking('cc')
const OFFLINE = { model: { providerId: 'svc', modelId: 'offline' } }

let scene: Scene
let place: Place
/** While it is there, the disk is read-only. */
let marker: string
/** Environment of a server on that disk. */
let env: Readonly<Record<string, string>>

beforeEach(() => {
  place = makePlace()
  scene = openScene(place)
  if (NO_COMPILER !== '') return
  const library = join(place.root, 'read-only.so')
  marker = join(place.root, 'turned')
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(import.meta.dirname, '../../fixtures/read-only.c')])
  env = { LD_PRELOAD: library, SVC_TEST_READ_ONLY: marker, SVC_TEST_READ_ONLY_UNDER: place.state }
})
afterEach(() => scene.close())

const readiness = async (server: Server) => (await server.get<HealthResponse>('/v2/health')).readiness
const upload = (server: Server) =>
  server.call('POST', '/v2/artifacts', new Uint8Array(100), { 'content-type': 'application/octet-stream', 'x-svc-filename': 'a.bin' })

test.skipIf(NO_COMPILER !== '')(
  `a disk that turns read-only refuses writes with place and reason, tells readiness, loses nothing, and goes on once it can be written${NO_COMPILER}`,
  async () => {
    const server = await scene.start(env)
    const { id } = await server.createSession({ title: 'Before' })
    await server.prompt(id, { prompt: 'list', ...OFFLINE })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    const before = await server.messages(id)
    expect(await readiness(server)).toMatchObject({ ready: true })

    writeFileSync(marker, '')
    for (const refused of [
      await server.call('POST', '/v2/sessions', { title: 'Refused' }),
      await server.call('PATCH', `/v2/sessions/${id}`, { title: 'Refused' }),
      await server.call('POST', `/v2/sessions/${id}/prompt`, { prompt: 'list', ...OFFLINE }),
      await upload(server),
    ]) {
      const details = { reason: 'EROFS', directory: expect.stringContaining(place.state) as string }
      expect(refused).toMatchObject({ status: 500, body: { code: 'store.unavailable', details } })
      expect((refused.body as { message: string }).message).toMatch(/ its? .*file system is read-only/)
    }
    await expect
      .poll(() => readiness(server), { timeout: PATIENCE })
      .toMatchObject({ ready: false, store: { ready: false, reason: 'EROFS' } })
    expect(await server.messages(id)).toEqual(before)
    expect((await server.get<Session>(`/v2/sessions/${id}`)).title).toBe('Before')

    rmSync(marker)
    expect((await server.call('PATCH', `/v2/sessions/${id}`, { title: 'Renamed' })).status).toBe(200)
    await expect.poll(() => readiness(server), { timeout: PATIENCE }).toMatchObject({ ready: true, store: { ready: true } })
    await server.prompt(id, { prompt: 'list', ...OFFLINE })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    expect((await server.messages(id)).slice(0, before.length)).toEqual(before)
    expect(await server.messages(id)).toHaveLength(2 * before.length)
    expect((await upload(server)).status).toBe(201)
    await server.stop()
    const again = await scene.start()
    expect(await again.messages(id)).toHaveLength(2 * before.length)
  },
  3 * PATIENCE,
)

test.skipIf(NO_COMPILER !== '')(
  `a server whose disk turned read-only stops at once and says what it could not do, and the next start is refused with place, reason and remedy${NO_COMPILER}`,
  async () => {
    const server = await scene.start(env)
    const { id } = await server.createSession({ title: 'Before' })
    writeFileSync(marker, '')
    expect((await server.call('PATCH', `/v2/sessions/${id}`, { title: 'Refused' })).status).toBe(500)
    expect((await server.stop()).code).toBe(1)
    expect(server.stderr()).toMatch(/the store could not be closed in order.*EROFS/)
    expect(server.stderr()).toContain('"message":"stopped"')
    expect(server.stderr()).not.toContain('stopped at once')

    const doctor = spawnSync(process.execPath, [PROGRAM, 'doctor'], { env: { ...place.env, ...env }, encoding: 'utf8' })
    expect(doctor.stdout + doctor.stderr).toContain(`${place.state} cannot be written (EROFS)`)
    const refused = await scene.start(env).catch(String)
    expect(refused).toContain('the server ended with code 1')
    expect(refused).toContain(`\nsvc: The state directory ${place.state} cannot be used: its file system is read-only (EROFS).`)
    expect(refused).toContain('SVC_AGENT_STATE_DIR')
    expect(refused).not.toMatch(/^ {4}at /m)

    rmSync(marker)
    expect((await (await scene.start(env)).get<Session>(`/v2/sessions/${id}`)).title).toBe('Before')
  },
  3 * PATIENCE,
)
