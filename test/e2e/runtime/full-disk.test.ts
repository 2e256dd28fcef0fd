// Holds threat-model §6.6.
/** A state directory on a small disk of its own that runs full, and one that cannot be written: what is said, what is kept, how it goes on. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Artifact } from '../../../src/protocol/system/artifact.js'
import type { HealthResponse } from '../../../src/protocol/system/system.js'
import { PATIENCE } from '../../fakes/patience.js'
import { lackingSandbox, whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace, type Place } from '../server/place.js'
import { descendants } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const MIB = 1024 * 1024
const isMissing = whyNoBubblewrap() !== undefined

let place: Place
let scene: Scene
beforeEach(() => {
  place = makePlace()
})
afterEach(() => scene.close())

/** A Node whose state directory is what bubblewrap makes of it. */
function nodeWith(mounts: string): { readonly node: string } {
  const node = join(place.root, 'node')
  writeFileSync(node, `#!/bin/sh\nexec bwrap --dev-bind / / ${mounts} --die-with-parent -- ${process.execPath} "$@"\n`)
  chmodSync(node, 0o755)
  return { node }
}

const upload = (server: Server, bytes: number) =>
  server.call('POST', '/v2/artifacts', new Uint8Array(bytes), { 'content-type': 'application/octet-stream', 'x-svc-filename': 'a.bin' })

/** Until not one more page fits; answers what was taken. */
async function fill(server: Server): Promise<Artifact[]> {
  const taken: Artifact[] = []
  for (const size of [16 * MIB, MIB, 64 * 1024, 4096])
    for (let tries = 0; tries < 64; tries++) {
      const answer = await upload(server, size)
      if (answer.status >= 400) break
      taken.push(answer.body as Artifact)
    }
  return taken
}

describe(`a disk that is full${lackingSandbox()}`, () => {
  test.skipIf(isMissing)(
    'refuses writes with place and reason, tells readiness, loses nothing, and goes on when there is room',
    async () => {
      scene = openScene(place, nodeWith(`--size ${96 * MIB} --tmpfs ${place.state}`))
      const server = await scene.start()
      const [inside] = descendants(server.pid)
      const reserve = `/proc/${inside?.pid}/root${place.state}/reserve`
      writeFileSync(reserve, new Uint8Array(16 * MIB))
      expect((await server.get<HealthResponse>('/v2/health')).readiness).toMatchObject({
        ready: true,
        store: { ready: true },
        disk: { ready: true },
      })
      const session = await server.createSession({ title: 'Before' })
      const taken = await fill(server)
      expect((await upload(server, MIB)).body).toMatchObject({
        code: 'store.unavailable',
        message: expect.stringContaining(place.state) as string,
        details: {
          reason: expect.stringMatching(/ENOSPC|SQLITE_FULL/) as string,
          directory: expect.stringContaining(place.state) as string,
        },
      })
      let refused = await server.call('POST', '/v2/sessions', { title: 'x'.repeat(1000) })
      for (let tries = 0; refused.status < 400 && tries < 2000; tries++)
        refused = await server.call('POST', '/v2/sessions', { title: 'x'.repeat(1000) })
      expect(refused).toMatchObject({ status: 500 })
      expect(refused.body).toMatchObject({ code: 'store.unavailable', details: { reason: 'SQLITE_FULL', directory: place.state } })
      await expect
        .poll(async () => (await server.get<HealthResponse>('/v2/health')).readiness, { timeout: PATIENCE })
        .toMatchObject({ ready: false, disk: { ready: false } })
      expect((await server.get<{ title: string }>(`/v2/sessions/${session.id}`)).title).toBe('Before')
      rmSync(reserve)
      await server.prompt(session.id, { prompt: 'list', model: { providerId: 'svc', modelId: 'offline' } })
      await server.call('POST', `/v2/sessions/${session.id}/wait`)
      expect((await server.messages(session.id)).length).toBeGreaterThan(1)
      for (const { id, size } of taken) expect((await server.call('GET', `/v2/artifacts/${id}/content`)).text).toHaveLength(size)
    },
    3 * PATIENCE,
  )

  test.skipIf(isMissing)('that is read-only refuses the start, and names place and reason', async () => {
    mkdirSync(place.state, { recursive: true })
    scene = openScene(place, nodeWith(`--ro-bind ${place.state} ${place.state}`))
    await expect(scene.start()).rejects.toThrow(new RegExp(`ended with code 1: [^]*\\nsvc: .*${place.state}.*(?:EROFS|read-only)`))
  })
})
