/** Every block of docs/client.md is a program; each is run as it stands. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installPackage, runNode } from './installed.js'
import { makePlace } from './place.js'
import { openScene, type Scene } from './server.js'

const GUIDE = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8')

/** What each block prints, in order. */
const PRINTED = [/hello/, /^404: .+\n$/, /\[bash completed\][^]*hello[^]*\ndone\n$/, /^\d+ Watched\n$/]

let scene: Scene
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(() => scene.close())

test('the blocks of the guide do what it says', async () => {
  const blocks = [...GUIDE.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language, code = '']) => ({ language, code }))
  expect(blocks.map(({ language }) => language)).toEqual(PRINTED.map(() => 'js'))
  const server = await scene.start()
  installPackage(scene.place)
  for (const [index, { code }] of blocks.entries()) {
    const file = join(scene.place.root, `block-${index + 1}.mjs`)
    writeFileSync(file, code)
    const ran = await runNode(scene.place, [file], { SVC_URL: server.url })
    expect(ran).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(PRINTED[index] ?? /never/) as string })
  }
})
