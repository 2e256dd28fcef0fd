// Holds plugin-protocol §7.2.
import { expect, it } from 'vitest'
import { createMediaDoor } from '../../../src/actors/host/media.js'

const png = { mime: 'image/png', filename: 'dot.png', dataBase64: 'aGk=', revisedPrompt: null }
const wish = { kind: 'image', prompt: 'a dot' } as const

/** A session of the tenant, with providers that make what `make` answers. */
function scene(ids: readonly string[], make: (request: object, signal?: AbortSignal) => Promise<object>, svcTenantId?: string) {
  const uploads: unknown[] = []
  const providers = ids.map((id) => ({ npm: [id], builtin: { id, name: id, models: [{ id: 'one' }] }, media: make }))
  const core = {
    store: { sessions: { get: (id: string) => (id === 'ses_1' ? { id, directory: '/w', svcTenantId } : undefined) } },
    plugins: { current: () => ({ providers: [{ npm: ['other'] }, ...providers] }) },
    artifacts: {
      create: async ({ tenantId }: { tenantId: string }, { bytes, ...upload }: { bytes: AsyncIterable<Uint8Array> }) => {
        const pieces: Uint8Array[] = []
        for await (const piece of bytes) pieces.push(piece)
        uploads.push({ tenantId, ...upload, text: Buffer.concat(pieces).toString() })
        return { id: 'art_1' }
      },
    },
  }
  return { uploads, door: createMediaDoor(core as unknown as Parameters<typeof createMediaDoor>[0]) }
}
const { signal } = new AbortController()

it('is there for sessions that see a provider that makes files', () => {
  expect([scene(['a'], async () => png).door.isThere('ses_1'), scene([], async () => png).door.isThere('ses_1')]).toEqual([true, false])
  expect(scene(['a'], async () => png).door.isThere('ses_2')).toBe(false)
})

it('has a file made for the tenant of the session, and keeps it there', async () => {
  const asked: object[] = []
  const make = async (request: object) => {
    asked.push(request)
    return png
  }
  const { door, uploads } = scene(['a'], make, 'acme')
  expect(await door.make('ses_1', wish, signal)).toEqual({
    artifact: { id: 'art_1' },
    providerId: 'a',
    modelId: 'one',
    revisedPrompt: undefined,
  })
  expect(uploads).toEqual([{ tenantId: 'acme', mediaType: 'image/png', filename: 'dot.png', sessionId: 'ses_1', text: 'hi' }])
  expect(asked).toEqual([
    {
      kind: 'image',
      providerId: 'a',
      modelId: 'one',
      connectionId: null,
      tenantId: 'acme',
      workspaceId: '/w',
      prompt: 'a dot',
      options: {},
    },
  ])
})

it.each([
  [['a', 'b'], {}, 'Say which provider: there are a, b.'],
  [['a', 'b'], { providerId: 'c' }, 'No provider "c" makes files: there are a, b.'],
  [[], {}, 'No provider here makes an image.'],
  [['a'], { modelId: 'two' }, 'The provider "a" has no model "two": it has one.'],
])('of %j with %j nothing is made', async (ids, more, why) => {
  const { door, uploads } = scene(ids, async () => png)
  await expect(door.make('ses_1', { ...wish, ...more }, signal)).rejects.toThrow(why)
  expect(uploads).toEqual([])
})

it('keeps nothing of a failure, of another kind than was asked for, or of a call that was aborted meanwhile', async () => {
  const broken = scene(['a'], () => Promise.reject(new Error('out of paint')))
  await expect(broken.door.make('ses_1', wish, signal)).rejects.toThrow('The provider "a" made no image: out of paint')
  const other = scene(['a'], async () => ({ ...png, mime: 'text/html' }))
  await expect(other.door.make('ses_1', wish, signal)).rejects.toThrow('made "text/html", which is no image')
  const stop = new AbortController()
  const late = scene(['a'], async () => {
    stop.abort(new Error('stopped'))
    return png
  })
  await expect(late.door.make('ses_1', wish, stop.signal)).rejects.toThrow('stopped')
  expect([broken, other, late].flatMap(({ uploads }) => uploads)).toEqual([])
})
