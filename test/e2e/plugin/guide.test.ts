/** docs/plugins.md, followed word for word: every command and file of its guide, and then a real server whose model calls the tool. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import type { PackageLifecycleInfo } from '../../../src/protocol/plugin/plugin.js'
import { lacking } from '../../fakes/machine.js'
import { PATIENCE } from '../../fakes/patience.js'
import { makePlace, type Place } from '../server/place.js'
import { readGuide, type Section } from './guide.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const execute = promisify(execFile)
const sections = readGuide(new URL('../../../docs/plugins.md', import.meta.url), 'From an empty folder to a tool')

/** Where the interpreters of this machine come from a version manager, the sandbox would hide them. */
const INTERPRETERS = { SVC_AGENT_PLUGIN_SANDBOX: 'off' }

const NO_PYTHON = lacking('python3')
let scene: Scene | undefined
afterEach(async () => {
  await scene?.close()
  scene = undefined
})

describe('the guide for plugin authors', () => {
  test('has a section for each language', () => {
    expect(sections.map(({ title }) => title)).toEqual(['In Lua', 'In JavaScript', 'In TypeScript', 'In Python'])
  })

  test.for(sections.map((section) => ({ section, why: section.title === 'In Python' ? NO_PYTHON : '' })))(
    '$section.title leads from an empty folder to a tool the model calls$why',
    async ({ section, why }, { skip }) => {
      skip(why !== '', why)
      scene = openScene(makePlace())
      const said = await follow(section, scene.place)
      expect(said).toContain('→ hello Ada')
      expect(said).toContain('Greeted.')

      const server = await scene.start(INTERPRETERS)
      const [info] = await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')
      expect(info).toMatchObject({ packageId: 'dev.example.hello', source: 'workspace', scope: 'workspace' })
      expect(await callHello(server)).toMatchObject({ status: 'completed', title: 'hello Ada', output: 'Hello, Ada!' })
      const [serving] = await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')
      expect(serving).toMatchObject({ state: 'active', leaseActive: true, diagnostics: [] })
      await server.stop()
    },
  )
})

test.skipIf(NO_PYTHON !== '')(`the commands of the reference are offered in each language${NO_PYTHON}`, async () => {
  const text = readFileSync(new URL('../../../docs/plugins.md', import.meta.url), 'utf8')
  const reference = text.slice(text.indexOf('### Other contributions'), text.indexOf('### The library for Node'))
  const [lua = '', js = '', python = ''] = [...reference.matchAll(/^```\w+\n([^]*?\n)```$/gm)].map(([, block]) => block)
  scene = openScene(makePlace())
  const { place } = scene
  const env = { ...place.env, ...INTERPRETERS }
  const svc = (...args: readonly string[]) => execute(process.execPath, [PROGRAM, ...args], { cwd: place.repo, env })
  for (const [language, name, change] of [
    ['lua', 'agent.lua', () => lua],
    ['javascript', 'plugin.js', () => js],
    ['python', 'plugin.py', (file: string) => file.replace(/^\}\n\nif /m, () => `${python}}\n\nif `)],
  ] as const) {
    const id = `dev.example.${language}`
    await svc('plugin', 'init', id, '--language', language)
    const path = `.svc/plugins/${id}/${name}`
    place.write(path, change(place.read(path)))
    await svc('plugin', 'trust', id, '--yes')
  }
  const server = await scene.start(INTERPRETERS)
  await server.get('/v2/tools') // waits until they have started
  const names = async () => (await server.get<{ name: string }[]>('/v2/commands')).map(({ name }) => name)
  await expect.poll(names).toEqual(expect.arrayContaining(['standup', 'weigh', 'recap']))
  const { id } = await server.createSession({ model: { providerId: 'svc', modelId: 'offline' } })
  expect(await server.call('POST', `/v2/sessions/${id}/commands`, { command: 'recap', arguments: 'the day' })).toMatchObject({
    status: 200,
  })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  expect(JSON.stringify((await server.messages(id))[0])).toContain('Sum up the day.')
})

/** Runs every block in the workspace; answers everything that was printed. Rejects with the output of the first that fails. */
async function follow({ steps }: Section, place: Place): Promise<string> {
  const env = { ...place.env, ...INTERPRETERS, PATH: `${makePrograms(place)}:${place.env['PATH']}` }
  let said = ''
  for (const step of steps) {
    if (step.type === 'file') place.write(step.path, step.text)
    else {
      const { stdout, stderr } = await execute('sh', ['-e', '-c', step.script], { cwd: place.repo, env, timeout: 2 * PATIENCE })
      said += stdout + stderr
    }
  }
  return said
}

/** `svc` as if it were installed, and an `npm` that installs the compiler of this repository, so that no network is needed. */
function makePrograms(place: Place): string {
  const bin = join(place.root, 'bin')
  const program = (name: string, script: string) => {
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const modules = join(ROOT, 'node_modules')
  program('svc', `exec "${process.execPath}" "${PROGRAM}" "$@"`)
  program(
    'npm',
    [
      'if [ "$1" = install ]; then',
      '  mkdir -p node_modules/.bin',
      `  ln -s "${modules}/typescript" node_modules/typescript`,
      '  mkdir -p node_modules/@types',
      `  ln -s "${modules}/@types/node" node_modules/@types/node`,
      '  ln -s ../typescript/bin/tsc node_modules/.bin/tsc',
      '  exit 0',
      'fi',
      `PATH="${dirname(process.execPath)}:${place.env['PATH']}" exec npm "$@"`,
    ].join('\n'),
  )
  return bin
}

/** Has the model call the tool in a new session; answers the state of the call. */
async function callHello(server: Server): Promise<unknown> {
  const { id } = await server.createSession()
  const script = '```svc-script\n{"tool": "hello", "input": {"name": "Ada"}}\n{"text": "Greeted."}\n```'
  await server.prompt(id, { prompt: script, model: { providerId: 'svc', modelId: 'offline' } })
  const answer = await server.call('POST', `/v2/sessions/${id}/wait`)
  expect(answer.status).toBe(204)
  const messages: Message[] = await server.messages(id)
  const calls = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool' && part.tool === 'hello' ? [part.state] : [])),
  )
  expect(calls).toHaveLength(1)
  return calls[0]
}
