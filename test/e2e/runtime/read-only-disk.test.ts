// Holds threat-model §6.6.
/** A state directory whose disk turns read-only while the server runs: what is said, what is kept, how it goes on. */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import type { HealthResponse } from '../../../src/protocol/system/system.js'
import { lacking } from '../../fakes/machine.js'
import { PATIENCE } from '../../fakes/patience.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const NO_COMPILER = lacking('cc')
const OFFLINE = { model: { providerId: 'svc', modelId: 'offline' } }

let scene: Scene
afterEach(() => scene.close())

const readiness = async (server: Server) => (await server.get<HealthResponse>('/v2/health')).readiness
const upload = (server: Server) =>
  server.call('POST', '/v2/artifacts', new Uint8Array(100), { 'content-type': 'application/octet-stream', 'x-svc-filename': 'a.bin' })

test.skipIf(NO_COMPILER !== '')(
  `a disk that turns read-only refuses writes with place and reason, tells readiness, loses nothing, and goes on once it can be written${NO_COMPILER}`,
  async () => {
    const place = makePlace()
    scene = openScene(place)
    const library = join(place.root, 'read-only.so')
    const marker = join(place.root, 'turned')
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(import.meta.dirname, '../../fixtures/read-only.c')])
    const server = await scene.start({ LD_PRELOAD: library, SVC_TEST_READ_ONLY: marker, SVC_TEST_READ_ONLY_UNDER: place.state })
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
      expect(refused).toMatchObject({ status: 500, body: { code: 'store.unavailable' } })
      expect(refused.text).toContain(place.state)
      expect(refused.text).toMatch(/EROFS|SQLITE_(?:IOERR|READONLY)/)
    }
    await expect.poll(() => readiness(server), { timeout: PATIENCE }).toMatchObject({ ready: false, store: { ready: false } })
    expect(await server.messages(id)).toEqual(before)
    expect((await server.get<Session>(`/v2/sessions/${id}`)).title).toBe('Before')

    rmSync(marker)
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
