/** What an unpacked archive says to git starts nothing: neither when a session begins in it nor as it goes on (threat-model V1). */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'
import type { AnyEvent } from '../server/stream.js'

const ABSENT = '1'.repeat(40)

let scene: Scene
let model: ModelServer
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

const git = (...args: string[]) => spawnSync('git', args, { cwd: scene.place.repo, env: scene.place.env, encoding: 'utf8' })

test('a repository whose missing objects are fetched by a program of its own starts nothing', async () => {
  const { place } = scene
  const marker = join(place.root, 'marker')
  place.write(
    '.git/config',
    `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n[protocol "ext"]\n\tallow = always\n` +
      `[remote "evil"]\n\turl = "ext::sh -c touch% ${marker}"\n\tpromisor = true\n`,
  )
  writeFileSync(join(place.repo, '.git/refs/heads/main'), `${ABSENT}\n`)
  git('rev-list', '--max-parents=0', 'HEAD')
  expect(existsSync(marker), 'control: git itself runs it').toBe(true)
  rmSync(marker)

  model = await startModelServer([reply(text('all done'), finish('stop'))])
  place.configure(withModel(model.url))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  expect(session).toMatchObject({ projectId: 'global' })
  await server.prompt(session.id, { prompt: 'go on' })
  await stream.idle(session.id)
  expect(existsSync(marker)).toBe(false)
  expect(server.stderr()).toContain('history of a repository')
})

test('the project of a session is the root commit of its repository, read without git', async () => {
  const { place } = scene
  model = await startModelServer([])
  const [root] = git('rev-list', '--max-parents=0', 'HEAD').stdout.split('\n')
  place.write('deep/more.txt', 'more\n')
  git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--allow-empty', '-m', 'more')
  git('gc', '--quiet')
  const server = await scene.start({ PATH: '/nonexistent' })
  const created = await server.call('POST', '/v2/sessions', {}, { 'x-svc-directory': join(place.repo, 'deep') })
  expect(created.body).toMatchObject({ projectId: root, path: 'deep' })
})

/** A repository of another name, to which `.git` sends git for its settings: eight files. */
function pieces(marker: string): readonly (readonly [path: string, content: string])[] {
  return [
    ['.git/HEAD', 'ref: refs/heads/main\n'],
    ['.git/commondir', '../evil\n'],
    ['evil/config', `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch '${marker}'; false"\n`],
    ['evil/objects/info/packs', '\n'],
    ['evil/refs/heads/.keep', ''],
    ['evil/HEAD', 'ref: refs/heads/main\n'],
    ['evil/info/exclude', ''],
    ['evil/description', ''],
  ]
}

test('the files that make a repository which names a program are asked about, though everything may be edited', async () => {
  const { place } = scene
  const marker = join(place.root, 'marker')
  const control = join(place.root, 'control')
  for (const [path, content] of pieces(marker)) {
    mkdirSync(join(control, path, '..'), { recursive: true })
    writeFileSync(join(control, path), content)
  }
  spawnSync('git', ['status'], { cwd: control, env: place.env })
  expect(existsSync(marker), 'control: the eight files are enough for git').toBe(true)
  rmSync(marker)

  rmSync(join(place.repo, '.git'), { recursive: true })
  const writes = pieces(marker).map(([filePath, content], index) =>
    reply(toolCall({ id: `c${index}`, name: 'write', input: { filePath, content } }), finish('tool_calls')),
  )
  model = await startModelServer([...writes, reply(text('done'), finish('stop'))])
  place.configure(withModel(model.url, { permission: { '*': 'allow', bash: 'deny' } }))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'go on' })

  const isNext = (event: AnyEvent) =>
    event.type === 'permission.asked' || (event.type === 'session.status' && event.data.status.type === 'idle')
  const asked: string[] = []
  for (let event = await stream.waitFor(isNext); event.type === 'permission.asked'; ) {
    asked.push(...event.data.patterns)
    await server.call('POST', `/v2/interactions/permissions/${event.data.id}/reply`, { reply: 'reject' })
    event = await stream.waitFor(isNext, stream.events.indexOf(event) + 1)
  }
  expect(asked).toEqual(['.git/HEAD', '.git/commondir', 'evil/refs/heads/.keep', 'evil/HEAD'])
  git('status')
  expect(existsSync(marker)).toBe(false)
})

test('a command of git that the rules allow is asked about where its repository names a program, and the answer is for that program', async () => {
  const { place } = scene
  const marker = join(place.root, 'marker')
  git('config', 'core.fsmonitor', `touch '${marker}'; false`)
  git('status')
  expect(existsSync(marker), 'control: git itself runs it').toBe(true)
  rmSync(marker)

  const status = (id: string) =>
    reply(toolCall({ id, name: 'bash', input: { command: 'git status', description: 'look' } }), finish('tool_calls'))
  model = await startModelServer([status('c1'), status('c2'), reply(text('done'), finish('stop'))])
  place.configure(withModel(model.url, { permission: { bash: { '*': 'ask', 'git status*': 'allow' } } }))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'go on' })
  const asked = await stream.waitFor(({ type }) => type === 'permission.asked')
  const pattern = `core.fsmonitor=touch '${marker}'; false in ${place.repo}/.git`
  expect(asked).toMatchObject({ data: { permission: 'git', patterns: [pattern], always: [pattern] } })
  expect(existsSync(marker)).toBe(false)
  if (asked.type !== 'permission.asked') throw new Error('nothing was asked')
  await server.call('POST', `/v2/interactions/permissions/${asked.data.id}/reply`, { reply: 'always' })
  await stream.idle(session.id, stream.events.indexOf(asked))
  expect(stream.events.filter(({ type }) => type === 'permission.asked')).toHaveLength(1)
  expect(existsSync(marker)).toBe(true)
})
