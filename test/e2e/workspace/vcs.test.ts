/** Version control of a directory on the built program: what differs, a patch, and the branch that is checked out (subsystems h). */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

const VCS = '/v2/plugins/dev.svc.vcs'

let scene: Scene
beforeEach(() => {
  scene = openScene(makePlace({ 'README.md': 'hello\n' }))
})
afterEach(() => scene.close())

test('a client sees what differs, applies a patch, and hears of another branch', async () => {
  const { place } = scene
  const git = (...args: string[]) => spawnSync('git', args, { cwd: place.repo, env: place.env, encoding: 'utf8' })
  const left = join(place.state, 'git/of-an-earlier-server')
  mkdirSync(left, { recursive: true })
  const server = await scene.start()
  expect(existsSync(left)).toBe(false)
  const stream = await server.stream({ tail: true })
  expect((await server.call('GET', VCS)).body).toEqual({ branch: 'main' })
  expect((await server.call('GET', `${VCS}/status`)).body).toEqual([])

  const patch = '--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-hello\n+hello there\n'
  expect((await server.call('POST', `${VCS}/apply`, { diff: patch, directory: '.' })).body).toEqual({ success: true })
  expect(place.read('README.md')).toBe('hello there\n')
  await stream.waitFor((event) => event.type === 'vcs.updated' && event.data.directory === place.repo)
  expect((await server.call('POST', `${VCS}/apply`, { patch })).body).toMatchObject({
    success: false,
    error: expect.stringContaining('README.md'),
  })
  expect((await server.call('POST', `${VCS}/apply`, { patch: ' ' })).status).toBe(400)

  const change = { path: 'README.md', file: 'README.md', status: 'modified', additions: 1, deletions: 1 }
  expect((await server.call('GET', `${VCS}/status`)).body).toEqual([change])
  const session = await server.createSession()
  const diff = (await server.call('GET', `/v2/sessions/${session.id}/diff`)).body
  expect(diff).toMatchObject([{ ...change, added: 1, removed: 1, patch: expect.stringContaining('+hello there') }])
  const raw = await fetch(`${server.url}${VCS}/diff/raw?directory=${encodeURIComponent(place.repo)}`)
  expect([raw.headers.get('content-type'), await raw.text()]).toEqual(['text/x-diff; charset=utf-8', git('diff', 'HEAD').stdout])

  git('checkout', '-q', '-b', 'work')
  await stream.waitFor((event) => event.type === 'vcs.branch.updated' && event.data.branch === 'work')
  expect((await server.call('GET', VCS)).body).toEqual({ branch: 'work' })
  git('checkout', '-q', '--detach')
  await stream.waitFor((event) => event.type === 'vcs.branch.updated' && event.data.branch === null)
  expect((await server.call('GET', VCS)).body).toEqual({})
})
