import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Home, makeHome } from './program.js'

let home: Home
beforeEach(() => {
  home = makeHome()
})
afterEach(() => home.close())

test('a key is set with comments kept, read back, found in its file and removed', async () => {
  const file = join(home.workspace, 'svc.json')
  writeFileSync(file, '{\n  // why\n  "username": "ada", // who\n}\n')
  expect(await home.run(['config', 'set', 'compaction.auto', 'false'])).toEqual({ code: 0, stdout: `wrote ${file}\n`, stderr: '' })
  const text = readFileSync(file, 'utf8')
  expect([text.includes('// why'), text.includes('// who')]).toEqual([true, true])
  expect((await home.run(['config', 'get', 'compaction.auto'])).stdout).toBe('false\n')
  expect((await home.run(['config', 'path'])).stdout).toBe(`read   ${file}\nwrite  ${file}\n`)
  await home.run(['config', 'set', 'compaction', 'null'])
  const gone = await home.run(['config', 'get', 'compaction'])
  expect([gone.code, gone.stderr]).toEqual([1, 'svc: nothing sets compaction\n'])
})

test('a workspace cannot widen by svc config either; the installation is written with --global', async () => {
  const refused = await home.run(['config', 'set', 'shell', '/bin/zsh'])
  expect([refused.code, refused.stderr.includes('A workspace cannot set "shell"')]).toEqual([1, true])
  const written = await home.run(['config', 'set', '--global', 'model', 'svc/offline'])
  expect(written).toMatchObject({ code: 0, stdout: `wrote ${join(home.path, '.config/svc/config.json')}\n` })
  expect((await home.run(['config', 'get', 'model'])).stdout).toBe('"svc/offline"\n')
})

test('validate tells every mistake with its place, and ends with 1', async () => {
  mkdirSync(join(home.workspace, '.svc'))
  expect(await home.run(['config', 'validate'])).toMatchObject({ code: 0, stdout: 'nothing is wrong\n' })
  const file = join(home.workspace, 'svc.json')
  writeFileSync(file, '{\n  "model": 3\n}\n')
  const { code, stderr } = await home.run(['config', 'validate'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^error config: \S*svc\.json:2:\d+: "model" /)
})

test('validate judges what is only named: models, tools and plugins, and says so where it cannot', async () => {
  const named = { model: 'svc/none', smallModel: 'nobody/x', tools: { nosuch: false }, plugins: { 'dev.svc.nosuch': false } }
  writeFileSync(join(home.workspace, 'svc.json'), JSON.stringify(named))
  const judged = await home.run(['config', 'validate'])
  for (const path of ['model', 'smallModel', 'tools.nosuch', 'plugins.dev.svc.nosuch']) expect(judged.stderr).toContain(`warning ${path}: `)
  expect(judged.code).toBe(0)
  const noState = join(home.workspace, 'file')
  writeFileSync(noState, '')
  const files = await home.run(['config', 'validate'], { env: { SVC_AGENT_STATE_DIR: noState } })
  expect(files.stderr).toMatch(/^warning config: whether the models, tools and plugins that are named exist was not looked at/m)
  expect(files.stderr).not.toContain('warning model')
})

test('the published schema describes every key', async () => {
  const { code, stdout } = await home.run(['config', 'schema'])
  const schema = JSON.parse(stdout) as { type: string; properties: Record<string, { description?: string }> }
  expect([code, schema.type]).toEqual([0, 'object'])
  const keys = Object.entries(schema.properties)
  expect(keys).toHaveLength(34)
  expect(keys.filter(([, { description }]) => (description ?? '') === '')).toEqual([])
})

test('a key that svc does not know is refused with a guess and nothing is written; --force writes it, and it can be taken out', async () => {
  const file = join(home.workspace, 'svc.json')
  writeFileSync(file, '{}\n')
  const guessed = await home.run(['config', 'set', 'agent.build.modl', 'svc/offline'])
  expect(guessed).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'svc: there is no key "agent.build.modl"; did you mean "agent.build.model"? Nothing was written; --force writes it all the same\n',
  })
  const unknown = await home.run(['config', 'set', 'nothing.like.it', '1'])
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(/there is no key "nothing"; the keys are \$schema, shell, model.*\w\. Nothing was written/),
  ])
  expect(readFileSync(file, 'utf8')).toBe('{}\n')
  expect(await home.run(['config', 'set', '--force', 'nothing.like.it', '1'])).toMatchObject({ code: 0, stdout: `wrote ${file}\n` })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ nothing: { like: { it: 1 } } })
  expect(await home.run(['config', 'set', 'nothing', 'null'])).toMatchObject({ code: 0 })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({})
})
