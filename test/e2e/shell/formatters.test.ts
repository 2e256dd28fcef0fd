/** Formatters in the built program: a real one in the sandbox, undo, what a workspace may say, and what the doctor tells. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

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

test('one that would run code of the project waits: it is listed, accepted and taken back by commands, and by an answer in a session', async () => {
  model = await startModelServer([
    write('a.js', 'one\n'),
    reply(text('done'), finish('stop')),
    write('b.js', 'two\n'),
    reply(text('done'), finish('stop')),
  ])
  scene = openScene(makePlace({ 'package.json': '{"devDependencies": {"prettier": "3"}}', 'prettier.config.mjs': 'export default {}\n' }))
  const { place } = scene
  const bin = join(place.root, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'prettier'), '#!/bin/sh\nprintf formatted > "$2"\n', { mode: 0o755 })
  place.configure(withModel(model.url, { formatter: true, permission: { '*': 'allow' } }))
  const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` }
  const server = await scene.start(env)
  const svc = async (...words: string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, ...words, '--dir', place.repo], { env: { ...place.env, ...env } })
      .then(({ stdout }) => ({ code: 0, stdout }))
      .catch(({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }))
  expect((await svc('formatter')).stdout).toMatch(
    /^prettier +waits +prettier --write '\$FILE' +.*prettier\.config\.mjs; svc formatter accept prettier$/m,
  )
  expect((await svc('doctor')).stdout).toMatch(/prettier does not run: .*prettier\.config\.mjs; "svc formatter accept prettier" lets it/)

  const stream = await server.stream({ tail: true })
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'go on' })
  const asked = await stream.waitFor(({ type }) => type === 'question.asked')
  const question = asked.data as { readonly id: string; readonly questions: readonly object[] }
  expect(question.questions).toMatchObject([{ acceptance: { kind: 'formatter', name: 'prettier', directory: place.repo } }])
  await server.call('POST', `/v2/interactions/questions/${question.id}/reply`, { answers: [['Allow']] })
  await stream.idle(id)
  expect(place.read('a.js')).toBe('formatted')
  expect((await svc('formatter', 'list')).stdout).toMatch(/^prettier +accepted/m)

  expect(await svc('formatter', 'revoke', 'prettier')).toEqual({ code: 0, stdout: 'taken back\n' })
  expect(await svc('formatter', 'revoke', 'prettier')).toEqual({ code: 1, stdout: 'nothing was accepted\n' })
  expect(await svc('formatter', 'accept', 'prettier')).toEqual({
    code: 0,
    stdout: `may run code of ${place.repo} after changes there:\n  prettier --write '$FILE'\n`,
  })
  expect((await svc('formatter', 'accept', 'nobody')).code).toBe(1)
  const from = stream.events.length
  await server.prompt(id, { prompt: 'go on' })
  await stream.idle(id, from)
  expect(place.read('b.js')).toBe('formatted')
  expect((await svc('formatter', 'list', '--json')).stdout).toContain('"state": "accepted"')
})
