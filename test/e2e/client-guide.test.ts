/** docs/client.md, followed in an empty folder: the package is packed and installed offline, and every program is run as it stands. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { blocksOf, ROOT } from './documents.js'
import { runNode } from './installed.js'
import { makePlace } from './place.js'
import { openScene, type Scene } from './server.js'

/** What each program prints, in order. */
const PRINTED = [/hello/, /^404: .+\n$/, /\[bash completed\][^]*hello[^]*\ndone\n$/, /^\d+ Watched\n$/]

let scene: Scene
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(() => scene.close())

test('the package is taken and the programs do what the guide says', async () => {
  const [taking, ...programs] = blocksOf('docs/client.md')
  expect(taking?.language).toBe('sh')
  expect(programs.map(({ language }) => language)).toEqual(PRINTED.map(() => 'js'))
  const server = await scene.start()

  const clone = join(scene.place.root, 'clone')
  mkdirSync(clone)
  symlinkSync(join(ROOT, 'dist'), join(clone, 'dist'))
  const env = { ...scene.place.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' }
  execFileSync('sh', ['-e', '-c', taking?.text ?? ''], { cwd: clone, env, timeout: 60_000 })
  const project = join(scene.place.home, 'my-client')
  const installed = join(project, 'node_modules/svc-client')
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['svc-client'])
  expect(readdirSync(installed).toSorted()).toEqual(['README.md', 'http.md', 'index.d.ts', 'index.js', 'package.json'])
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object
  expect(Object.keys(manifest).filter((key) => /dependencies|scripts|gyp/i.test(key))).toEqual([])

  for (const [index, { text }] of programs.entries()) {
    const file = join(project, `block-${index + 1}.mjs`)
    writeFileSync(file, text)
    const ran = await runNode(scene.place, [file], { SVC_URL: server.url })
    expect(ran).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(PRINTED[index] ?? /never/) as string })
  }
})
