/** Every block of docs/testing.md is a test file; each is run as it stands, outside of this repository. And the declarations hold. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installPackage, runNode } from '../server/installed.js'
import { makePlace, type Place } from '../server/place.js'

const GUIDE = readFileSync(new URL('../../../docs/testing.md', import.meta.url), 'utf8')

let place: Place
beforeEach(() => {
  place = makePlace()
})
afterEach(() => place.remove())

test('the blocks of the guide are tests that pass', async () => {
  const blocks = [...GUIDE.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language, code = '']) => ({ language, code }))
  expect(blocks.map(({ language }) => language)).toEqual(['js', 'js', 'js', 'js', 'js', 'js', 'js'])
  installPackage(place)
  const files = blocks.map(({ code }, index) => {
    const file = join(place.root, `block-${index + 1}.mjs`)
    writeFileSync(file, code)
    return file
  })
  for (const [some, count] of [
    [files.slice(0, 5), 5],
    [files.slice(5), 3],
  ] as const) {
    const ran = await runNode(place, ['--test', '--test-reporter=tap', ...some], {})
    expect(ran).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^# tests ${count}\\n[^]*^# pass ${count}\\n`, 'm')) as string,
    })
  }
})

test('the examples compile against the declarations, which are checked themselves', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const directory = join(root, 'node_modules/.cache/svc/testing-types')
  mkdirSync(directory, { recursive: true })
  const compilerOptions = { incremental: false, tsBuildInfoFile: null, skipLibCheck: false, types: ['node'] }
  const include = [join(root, 'examples/testing/*.ts'), join(root, 'dist/testing.d.ts')]
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  expect(await runNode(place, [compiler, '-p', directory], {})).toEqual({ code: 0, stdout: '', stderr: '' })
})
