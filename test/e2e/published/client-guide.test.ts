/**
 * The guides of those who write clients. docs/client.md, followed in an empty folder: the package is packed and installed offline, and every
 * program is run as it stands. The tour of docs/http.md, typed into one terminal.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { blocksOf, headingsOf, linksOf, openTerminal, ROOT } from '../server/documents.js'
import { runNode } from '../server/installed.js'
import { lacking } from '../../fakes/machine.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

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

const NO_CURL = lacking('curl')
test.skipIf(NO_CURL !== '')(`the tour with curl goes from a session over a permission to the end of its run${NO_CURL}`, async () => {
  const server = await scene.start()
  const blocks = blocksOf('docs/http.md').filter(({ language }) => language === 'sh')
  expect(blocks).toHaveLength(5)
  const typed = blocks.map(({ text }) => text).join('\n')
  const { code, printed } = await openTerminal(scene.place).run(typed.replace('http://127.0.0.1:4096', server.url))
  const [session, pending, replied] = printed.split('\n')
  expect({ code, printed }).toEqual({
    code: 0,
    printed: expect.stringMatching(/\n"type":"text","text":"[^"]*hello[^"]*"\n"status":\{"type":"idle"\n$/) as string,
  })
  expect(session).toMatch(/^ses_\w+$/)
  expect(JSON.parse(pending ?? '')).toMatchObject([{ sessionId: session, permission: 'bash', patterns: ['echo hello'] }])
  expect(replied).toBe('true')
})

test('the contents of the reference lead somewhere', () => {
  const page = 'dist/docs/http.md'
  const headings = headingsOf(page)
  const links = linksOf(page).filter(({ file }) => file === page)
  expect(links.length).toBeGreaterThan(500)
  expect(links.filter(({ heading }) => !headings.includes(heading))).toEqual([])
})
