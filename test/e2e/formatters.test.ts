/** Formatters in the built program: a real one in the sandbox, undo, what a workspace may say, and what the doctor tells. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../fixtures/model-server.js'
import { whyNoBubblewrap } from './bubblewrap.js'
import { makePlace, withModel } from './place.js'
import { openScene, PROGRAM, type Scene } from './server.js'
import { toolParts } from './transcript.js'

let scene: Scene | undefined
let model: ModelServer | undefined
afterEach(async () => {
  await scene?.close()
  await model?.close()
})

const write = (filePath: string, content: string) =>
  reply(toolCall({ id: filePath, name: 'write', input: { filePath, content } }), finish('tool_calls'))
const BIOME = '{"formatter": {"indentStyle": "space"}, "javascript": {"formatter": {"semicolons": "asNeeded"}}}\n'

test('what an agent writes is formatted where the commands run, is undone whole, and a workspace only switches it off', async () => {
  const sandbox = whyNoBubblewrap() === undefined ? 'on' : 'off'
  model = await startModelServer([write('a.ts', 'const  a = {b:1};\n'), write('a.mine', 'mine\n'), reply(text('done'), finish('stop'))])
  scene = openScene(
    makePlace({ 'biome.json': BIOME, 'svc.json': '{"formatter": {"evil": {"command": "touch $FILE.evil", "extensions": ["ts"]}}}' }),
  )
  const { place } = scene
  const bin = join(place.root, 'bin')
  mkdirSync(bin)
  symlinkSync(resolve(`node_modules/@biomejs/cli-${process.platform}-${process.arch}/biome`), join(bin, 'biome'))
  writeFileSync(join(place.home, 'notes'), 'secret')
  const show = `cat ${place.home}/notes >> "$1" || echo hidden >> "$1"`
  const mine = { command: ['/bin/sh', '-c', show, 'sh', '$FILE'], extensions: ['mine'] }
  place.configure(withModel(model.url, { formatter: { mine }, permission: { sandbox } }))
  const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` }
  const server = await scene.start(env)
  const stream = await server.stream({ tail: true })
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'go on' })
  await stream.idle(id)
  expect(toolParts(await server.messages(id)).map(({ state }) => state)).toMatchObject([
    { status: 'completed', metadata: { formatted: ['a.ts'] } },
    { status: 'completed', metadata: { formatted: ['a.mine'] } },
  ])
  expect([place.read('a.ts'), place.read('a.mine')]).toEqual(['const a = { b: 1 }\n', `mine\n${sandbox === 'on' ? 'hidden\n' : 'secret'}`])
  expect(() => place.read('a.ts.evil')).toThrow('ENOENT')
  expect(await server.get('/v2/config/validate')).toMatchObject({
    diagnostics: [{ path: 'formatter', message: expect.stringContaining('a workspace may only set it to false') }],
  })
  const undone = await server.call('POST', `/v2/sessions/${id}/undo`, {})
  expect(undone.status).toBe(200)
  expect(() => place.read('a.ts')).toThrow('ENOENT')

  const told = await promisify(execFile)(process.execPath, [PROGRAM, 'doctor', '--directory', place.repo], {
    env: { ...place.env, ...env },
  }).catch((error: { stdout: string }) => error)
  expect(told.stdout).toMatch(/ok +formatters +run after changes: biome, mine; not found outside of the project: .*gofmt/)
})
