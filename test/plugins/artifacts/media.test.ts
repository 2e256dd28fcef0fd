// Holds plugin-protocol §7.2.
import { expect, it } from 'vitest'
import { artifactsPlugin } from '../../../src/plugins/artifacts/artifacts.plugin.js'
import type { MediaWish } from '../../../src/ports/doors.js'
import { toolsOf } from '../web/fixture.js'

const artifact = {
  id: 'art_1',
  filename: 'dot.png',
  mediaType: 'image/png',
  size: 70,
  sha256: 'a'.repeat(64),
  created: 0,
  downloadUrl: '/v2/artifacts/art_1/content',
}

function scene(revisedPrompt?: string) {
  const wishes: MediaWish[] = []
  const media = {
    isThere: (sessionId: string) => sessionId === 'ses_1',
    make: async (_: string, wish: MediaWish) => {
      wishes.push(wish)
      return { artifact, providerId: 'homemade', modelId: 'one', revisedPrompt }
    },
  }
  return { wishes, ...toolsOf(() => artifactsPlugin(), { host: { media } }) }
}

it('hands on what is wished, and tells where the file is', async () => {
  const { run, wishes } = scene('a red dot')
  const wish = { kind: 'image', prompt: 'a dot', provider: 'homemade', model: 'one', options: { size: 'small' } }
  expect(await run('media_make', wish)).toEqual({
    title: 'dot.png',
    output: 'Made artifact://upload/art_1: dot.png (image/png, 70 bytes).\nThe provider took the prompt as: a red dot',
    metadata: {
      artifact: 'art_1',
      filename: 'dot.png',
      mediaType: 'image/png',
      byteCount: 70,
      downloadUrl: '/v2/artifacts/art_1/content',
      providerId: 'homemade',
      modelId: 'one',
    },
  })
  expect(wishes).toEqual([{ kind: 'image', prompt: 'a dot', providerId: 'homemade', modelId: 'one', options: { size: 'small' } }])
})

it('has a closed schema, and is judged by the provider it names', async () => {
  const { schema, needs } = scene()
  expect(schema('media_make')).toMatchObject({ type: 'object', additionalProperties: false, required: ['kind', 'prompt'] })
  for (const property of Object.values(schema('media_make').properties ?? {})) expect(property).toHaveProperty('description')
  const wish = { kind: 'video', prompt: 'a film' }
  expect(await needs('media_make', wish)).toMatchObject([{ permission: 'media_make', patterns: ['*'], title: 'Make a video: a film' }])
  expect(await needs('media_make', { ...wish, provider: 'homemade' })).toMatchObject([{ patterns: ['homemade'] }])
})
