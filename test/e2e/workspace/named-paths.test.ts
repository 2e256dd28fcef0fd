/** What a repository names reaches the model only if it is the repository's own (threat-model W4). */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ConfigValidation } from '../../../src/protocol/resource/config.js'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

test('files of the home directory and secrets of the worktree are not sent because a repository names them; its own rules are', async () => {
  model = await startModelServer([reply(text('done'), finish('stop')), reply(text('done'), finish('stop'))])
  const entries = ['$HOME/.aws/credentials', '~/.aws/credentials', 'linked/credentials', 'link.md', '.env', 'docs/rules.md']
  scene = openScene(
    makePlace({
      'docs/rules.md': 'rules of the house',
      'svc.json': JSON.stringify({ instructions: entries, skills: { paths: ['$HOME/skills'] } }),
    }),
  )
  const { place } = scene
  mkdirSync(join(place.home, '.aws'))
  writeFileSync(join(place.home, '.aws/credentials'), 'secret of the home')
  mkdirSync(join(place.home, 'skills/private'), { recursive: true })
  writeFileSync(join(place.home, 'skills/private/SKILL.md'), '---\ndescription: secret skill\n---\nDo.\n')
  symlinkSync(join(place.home, '.aws'), join(place.repo, 'linked'))
  place.write('.env', 'TOKEN=secret of the worktree')
  symlinkSync('.env', join(place.repo, 'link.md'))
  place.configure(withModel(model.url))
  const server = await scene.start()
  const ask = async () => {
    const { id } = await server.createSession()
    const stream = await server.stream({ tail: true })
    await server.prompt(id, { prompt: 'hello' })
    await stream.idle(id)
    stream.close()
    return JSON.stringify(model.requests.at(-1)?.body?.messages)
  }

  const sent = await ask()
  expect(sent).toContain('rules of the house')
  expect(sent).not.toContain('secret of')
  expect(await server.get('/v2/skills')).toEqual([])
  const { diagnostics } = await server.get<ConfigValidation>('/v2/config/validate')
  const told = diagnostics.map(({ message }) => message).join('\n')
  for (const entry of ['$HOME/.aws/credentials', '~/.aws/credentials', '/linked/credentials', '/link.md', '/.env', '$HOME/skills'])
    expect(told).toContain(entry)

  // The control: the operator may name the same file.
  place.configure(withModel(model.url, { instructions: ['$HOME/.aws/credentials'] }))
  await server.get('/v2/config/validate') // looks anew
  expect(await ask()).toContain('secret of the home')
})
