import { expect, test } from 'vitest'
import { LISTED, loadedBy } from '../server/probe.js'
import { makePlace } from '../server/place.js'
import { openScene } from '../server/server.js'

test('a server at rest has loaded nothing of Node for compression, for encrypted connections or for lines of a terminal', async () => {
  const scene = openScene(makePlace())
  try {
    const server = await scene.start({ ...LISTED, SSL_CERT_FILE: '' })
    const loaded = await loadedBy(server)
    expect(loaded).toEqual(expect.arrayContaining(['http', 'worker_threads']))
    expect(loaded.filter((name) => ['https', 'tls', 'zlib', 'readline', 'readline/promises', 'stream/consumers'].includes(name))).toEqual(
      [],
    )
  } finally {
    await scene.close()
  }
})
