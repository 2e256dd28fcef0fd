/**
 * A server that is at a repository nobody has ends in its promised time, and one that finds it at its start is there at once
 * (threat-model 6.6, §7).
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { makePlace } from '../../e2e/server/place.js'
import { longestStall, TIMED } from '../../e2e/server/probe.js'
import { openScene } from '../../e2e/server/server.js'
import { histories, indexes } from '../../fixtures/hostile-repositories.js'
import { openHostile } from './repositories.js'

const SHARE = process.env['SVC_CAMPAIGN'] === 'whole' ? 1 : 1 / 8
const CORPUS = { ...histories(SHARE), ...indexes(SHARE) }
const WORKFLOWS = '/v2/plugins/dev.svc.workflows'
const NAMES = [
  'nothing but replacements of nothing',
  'nothing but line ends',
  '20,000 long names',
  'names of 4 kB that share what they begin with',
]

/** Processor time, ms, of the longest turn of a start that finds a repository as everybody has: most of it is the program itself. */
let ordinary: number
beforeAll(async () => {
  const scene = openScene(makePlace())
  try {
    const server = await scene.start(TIMED)
    await server.call('GET', WORKFLOWS)
    ordinary = await longestStall(server)
  } finally {
    await scene.close()
  }
})

test.each(NAMES)('%s', { timeout: 300_000 }, async (name) => {
  const scene = openScene(makePlace())
  try {
    const directory = openHostile(scene.place.root, name, CORPUS[name] ?? (() => undefined))
    const query = `?directory=${encodeURIComponent(directory)}`
    const first = await scene.start(TIMED)
    await first.call('GET', WORKFLOWS + query)
    appendFileSync(join(directory, '.svc/workflows/w.md'), 'Say it twice.\n')
    const asked = ['POST /v2/sessions', `GET ${WORKFLOWS}`].map(async (each) => {
      const [method = '', path = ''] = each.split(' ')
      await first.call(method, path + query, method === 'POST' ? {} : undefined).catch(() => undefined)
    })
    await first.call('GET', '/v2/health')
    // One that took longer than it may (`LIMITS.stop.graceful`) would have ended itself with code 1.
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    await Promise.all(asked)

    appendFileSync(join(directory, '.svc/workflows/w.md'), 'And once more.\n')
    const second = await scene.start(TIMED)
    await second.call('GET', WORKFLOWS + query)
    expect(await longestStall(second)).toBeLessThan(2 * ordinary)
  } finally {
    await scene.close()
  }
})
