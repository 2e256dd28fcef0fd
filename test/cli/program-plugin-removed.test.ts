/** What was approved of a package does not outlive its folder: `svc plugin remove` and `add` of the built program. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Home, makeHome } from './program.js'

const ID = 'dev.example.hello'
let home: Home
beforeEach(() => (home = makeHome()))
afterEach(() => home.close())

/** A package whose tool says a word. */
function writePackage(word: string): string {
  const source = join(home.path, 'mine')
  mkdirSync(source, { recursive: true })
  const agent = { runtime: 'lua', entrypoint: 'agent.lua' }
  writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: ID, name: 'hello', version: '1', apiVersion: 1, agent }))
  writeFileSync(
    join(source, 'agent.lua'),
    `return { tools = { { id = "hello", description = "Says.", parameters = { type = "object" }, execute = function() return { output = "${word}" } end } } }\n`,
  )
  return source
}

const FOLDER = '.config/svc/plugins'

test.each([
  [
    'remove --keep-data in another directory',
    async (other: Home) => (await other.run(['plugin', 'remove', ID, '--yes', '--keep-data'])).code,
  ],
  ['remove in another directory', async (other: Home) => (await other.run(['plugin', 'remove', ID, '--yes'])).code],
  [
    'deletion by hand',
    async () => {
      rmSync(join(home.path, FOLDER, ID), { recursive: true })
      rmSync(join(home.path, '.config/svc/installed-plugins.json'))
      return 0
    },
  ],
])('after %s, other content under the id never lets what was approved before run', async (_, remove) => {
  const says = (at: Home) => at.run(['plugin', 'test', ID, 'hello'])
  expect((await home.run(['plugin', 'add', writePackage('first'), '--trust', '--yes'])).code).toBe(0)
  expect(await says(home)).toMatchObject({ code: 0, stdout: 'first\n' })
  expect(await remove(home.elsewhere())).toBe(0)
  expect((await home.run(['plugin', 'add', writePackage('second')])).code).toBe(0)
  expect(await says(home)).toMatchObject({ code: 1, stdout: '' })
  expect((await home.run(['config', 'get', 'plugins'])).stdout).not.toContain('sha256:')
  expect((await home.run(['plugin', 'trust', ID, '--yes'])).code).toBe(0)
  expect(await says(home)).toMatchObject({ code: 0, stdout: 'second\n' })
})

test('an approval of exactly what is added, written before it came, counts', async () => {
  const source = writePackage('first')
  await home.run(['plugin', 'add', source, '--trust', '--yes'])
  rmSync(join(home.path, FOLDER, ID), { recursive: true })
  rmSync(join(home.path, '.config/svc/installed-plugins.json'))
  expect((await home.run(['plugin', 'add', source])).stderr).not.toContain('approved no more')
  expect((await home.run(['plugin', 'list'])).stdout).toMatch(/ approved /)
})
